#include "tlm/platform/compare/points.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "tlm/platform/files.h"
#include "tlm/platform/prepared_run.h"

namespace dvp::platform {

namespace {

struct named_configuration {
  std::string config;                // name or path
  std::vector<std::string> changes;  // path=value
};

// At commas outside brackets and quotes: a value may be a list or an object.
std::vector<std::string> split_changes(const std::string& text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == '{')) ++depth;
    if (!quoted && (c == ']' || c == '}')) --depth;
    if (c == ',' && depth == 0 && !quoted) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// "fixed:decode.cache=dual,decode.loop=fast_dllm_v1"; a file of the whole name comes first.
named_configuration split(const std::string& text) {
  std::error_code ignored;
  const auto colon = text.find(':');
  if (colon == std::string::npos || std::filesystem::exists(text, ignored)) return {text, {}};
  if (colon + 1 == text.size()) throw usage_error(text + ": expected changes behind the colon, path=value,path=value");
  return {text.substr(0, colon), split_changes(text.substr(colon + 1))};
}

std::string as_folder(std::string name) {
  constexpr std::size_t longest = 80;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_'; };
  std::replace_if(
      name.begin(), name.end(), [&](char c) { return !plain(static_cast<unsigned char>(c)); }, '-');
  if (name.starts_with('.')) name.front() = '-';
  return name.substr(0, longest);
}

// `name`, or the first of name-2, name-3, ... that nobody has yet.
std::string make_unique(const std::string& name, const std::vector<std::string>& taken) {
  std::string unique = name;
  for (int number = 2; std::find(taken.begin(), taken.end(), unique) != taken.end(); ++number) {
    unique = name + "-" + std::to_string(number);
  }
  return unique;
}

// Throws what `dllm-vp run` would say of these arguments before it simulates.
std::string name_of_configuration(const std::vector<std::string>& arguments) {
  const run_options options = parse_run_options(arguments);
  return prepared_run(options).config.name;
}

}  // namespace

std::vector<compare_point> make_points(const compare_options& options) {
  std::vector<compare_point> points;
  std::vector<std::string> names, folders;
  for (const auto& text : options.configurations) {
    const named_configuration named = split(text);
    compare_point point;
    point.arguments = {"--quiet", "--config=" + named.config};
    for (const auto& change : options.overrides) point.arguments.push_back("--set=" + change);
    for (const auto& change : named.changes) point.arguments.push_back("--set=" + change);
    point.arguments.insert(point.arguments.end(), options.run_arguments.begin(), options.run_arguments.end());
    std::vector<std::string> checked = point.arguments;
    checked.push_back("--out=" + (options.out.empty() ? "." : options.out));
    std::string name;
    try {
      name = name_of_configuration(checked);
    } catch (const usage_error& error) {
      const bool ambiguous = options.configurations.size() > 1 && !named.changes.empty();
      throw usage_error((ambiguous ? text + ": " : std::string()) + error.what());
    }
    for (std::size_t i = 0; i < named.changes.size(); ++i) name += (i == 0 ? ":" : ",") + named.changes[i];
    point.name = make_unique(name, names);
    point.folder = make_unique(as_folder(point.name), folders);
    names.push_back(point.name);
    folders.push_back(point.folder);
    points.push_back(std::move(point));
  }
  return points;
}

}  // namespace dvp::platform
