#include "tlm/platform/sweep/points.h"

#include <algorithm>
#include <map>

#include "tlm/core/strict_json.h"
#include "tlm/loader/load_error.h"
#include "tlm/loader/tokenizer.h"
#include "tlm/platform/commands.h"
#include "tlm/platform/file_digest.h"
#include "tlm/platform/files.h"
#include "tlm/platform/prepared_run.h"
#include "tlm/platform/revision.h"
#include "tlm/platform/sweep/run_arguments.h"
#include "tlm/platform/version.h"

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

// Up to the value: "--model", "--set=npu.vector.lanes".
std::string name_of(const std::string& argument) {
  const std::size_t skip = argument.starts_with("--set=") ? std::string("--set=").size() : 0;
  return argument.substr(0, argument.find('=', skip));
}

// Those of every point, with a parameter's in the place of what they say of the same option or path.
std::vector<std::string> arguments_for(const sweep_spec& spec, const assignment& parameters) {
  std::vector<std::string> own;
  for (const auto& item : parameters.items()) {
    for (auto& argument : arguments_of(item.key(), item.value())) own.push_back(std::move(argument));
  }
  std::vector<std::string> arguments;
  for (const auto& argument : spec.run_arguments) {
    const bool replaced = std::any_of(parameters.items().begin(), parameters.items().end(), [&](const auto& item) {
      const std::string option = item.key().starts_with("--") ? item.key() : "--set=" + item.key();
      return option == name_of(argument);
    });
    if (!replaced) arguments.push_back(argument);
  }
  arguments.insert(arguments.end(), own.begin(), own.end());
  return arguments;
}

// Looks at the run and notes in `identity` what it depends on beside its arguments.
void check(sweep_point& point, ordered_json& identity) {
  std::vector<std::string> all = point.arguments;
  all.emplace_back("--quiet");
  try {
    const run_options options = parse_run_options(all);
    const prepared_run run(options);
    point.seed = options.seed;
    identity["configuration"] = run.config.source;
    if (run.config.memory.lpddr5) identity["memory"] = run.config.memory.lpddr5->source;
    for (const auto& input : run.inputs) {
      if (input.option != "--config") identity["files"][input.option] = file_digest(input.path);
    }
    return;
  } catch (const usage_error& error) {
    point.refused = {error.what(), exit_usage};
  } catch (const core::config_error& error) {
    point.refused = {error.what(), exit_usage};
  } catch (const loader::encode_error& error) {
    point.refused = {std::string("prompt: ") + error.what(), exit_usage};
  } catch (const loader::load_error& error) {
    point.refused = {error.what(), exit_model};
  }
  identity["refused"] = point.refused.sentence;
}

}  // namespace

std::vector<sweep_point> make_points(const sweep_spec& spec, const std::vector<assignment>& chosen,
                                     const std::string& file) {
  std::vector<sweep_point> points;
  const std::string build = revision();
  for (const auto& parameters : chosen) {
    sweep_point point{parameters, arguments_for(spec, parameters), "", 0, {}};
    std::vector<std::string> sorted = point.arguments;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const std::string& a, const std::string& b) { return name_of(a) < name_of(b); });
    ordered_json identity = {{"arguments", sorted}, {"version", version}, {"revision", build}};
    check(point, identity);
    point.key = text_digest(identity.dump());
    points.push_back(std::move(point));
  }
  const bool none = std::all_of(points.begin(), points.end(), [](const auto& p) { return p.refused.code != 0; });
  if (none) throw usage_error(file + ": " + points[0].refused.sentence);
  return points;
}

}  // namespace dvp::platform::sweep
