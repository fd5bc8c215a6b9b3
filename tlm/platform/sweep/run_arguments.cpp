#include "tlm/platform/sweep/run_arguments.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view own[] = {
    "--out", "--quiet", "--visual", "--help", "--timeline-prompts", "--timeline-functions"};
constexpr std::string_view shared[] = {
    "--waves",        "--waves-jobs",      "--uart",    "--gdb",      "--trace-functions", "--trace-instructions",
    "--trace-filter", "--trace-registers", "--profile", "--coverage", "--replayable"};

bool contains(const auto& list, const std::string& name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::string option_value(const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw std::invalid_argument(value.dump() + " is no value of an option; give a text, a number, true or false");
}

}  // namespace

std::vector<std::string> arguments_of(const std::string& name, const ordered_json& value) {
  if (!name.starts_with("--")) {
    if (name.empty() || name.find('=') != std::string::npos) {
      throw std::invalid_argument(
          "is no path of a configuration; such as npu.vector.lanes, or --threshold for an option");
    }
    return {"--set=" + name + "=" + value.dump()};
  }
  if (name == "--set") throw std::invalid_argument("give the configuration's path itself, such as npu.vector.lanes");
  if (contains(own, name)) throw std::invalid_argument("is set by the sweep itself; leave it out");
  if (contains(shared, name)) {
    throw std::invalid_argument("is for one run, and all points would share it; run that point alone with dllm-vp run");
  }
  if (value.is_boolean()) return value.get<bool>() ? std::vector{name} : std::vector<std::string>{};
  if (!value.is_array()) return {name + "=" + option_value(value)};
  std::vector<std::string> arguments;
  for (const auto& one : value) arguments.push_back(name + "=" + option_value(one));
  return arguments;
}

}  // namespace dvp::platform::sweep
