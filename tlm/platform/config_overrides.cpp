#include "tlm/platform/config_overrides.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/platform/core_choice.h"
#include "tlm/platform/files.h"
#include "tlm/platform/memory_overrides.h"
#include "tlm/platform/reasons.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

const ordered_json::json_pointer core_path("/cpu/rv64/core");

// "memory.config.channels": a memory given by name becomes its description, with the key on top.
void override_described_memory(ordered_json& config, const std::string& path, const config_override& wanted) {
  try {
    if (config.is_string()) config = lpddr5::load_memory_config(config.get<std::string>()).source;
  } catch (const core::config_error& error) {
    throw usage_error(wanted.said + ": memory.config: " + error.what());
  }
  override_memory(config, path, wanted.value, wanted.said);
}

// What to say of a key `parent`.`key` that is not there: the nearest of those that are, or else all of them.
std::string known_instead(const ordered_json& place, const std::string& parent, const std::string& key) {
  std::vector<std::string> known;
  std::string list;
  if (place.is_object()) {
    for (const auto& item : place.items()) {
      known.push_back(item.key());
      list += (list.empty() ? "" : ", ") + parent + item.key();
    }
  }
  std::string close = core::nearest_word(key, known);
  const bool described = parent == "memory." && place.contains("config");
  if (close.empty() && described) {
    close = core::nearest_word(key, {"device", "channels", "ranks", "timing", "mapping", "controller", "tagged"});
    if (!close.empty()) close.insert(0, "config.");
  }
  if (!close.empty()) return "did you mean " + parent + close + "?";
  if (described) list += ", and below memory.config what describes it, such as memory.config.channels";
  return list.empty() ? "it holds no keys" : "known there are " + list;
}

}  // namespace

config_override parse_override(const std::string& assignment) {
  const auto equals = assignment.find('=');
  const std::string said = "--set " + assignment;
  if (equals == std::string::npos || equals == 0) {
    throw usage_error(said + ": expected path=value, such as npu.vector.lanes=32");
  }
  return {assignment.substr(0, equals), assigned_value(assignment), said, "--set"};
}

void apply_override(ordered_json& document, const config_override& wanted) {
  const std::string& path = wanted.path;
  if (path == "why" || path.starts_with("why.")) {
    throw usage_error(wanted.said + ": reasons are no values; a file gives them in its own why");
  }
  const std::string reason = "choice: set by " + wanted.by;
  constexpr std::string_view described = "memory.config.";
  if (path.starts_with(described) && document.contains("memory") && document["memory"].is_object() &&
      document["memory"].contains("config")) {
    override_described_memory(document["memory"]["config"], path.substr(described.size()), wanted);
    // A DRAMSys description may hold the key deeper than the path says.
    replace_reason(document, has_value(document, path) ? path : "memory.config", reason);
    return;
  }
  constexpr std::string_view core = "cpu.rv64.core.";
  if (path.starts_with(core) && document.contains(core_path)) {
    document[core_path] = described_core(document[core_path]);
  }
  // Optional, so there need be none to replace.
  if (path == "faults") {
    document[path] = wanted.value;
    replace_reason(document, path, reason);
    return;
  }
  ordered_json* place = &document;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string key = path.substr(begin, end - begin);
    if (path.starts_with("faults.") && !document.contains("faults")) {
      throw usage_error(wanted.said + ": faults is not in this configuration; give it whole: --set 'faults={...}'");
    }
    if (!place->is_object() || !place->contains(key)) {
      throw usage_error(wanted.said + ": unknown key " + path.substr(0, end) + "; " +
                        known_instead(*place, path.substr(0, begin), key));
    }
    place = &(*place)[key];
    begin = end + 1;
  }
  *place = wanted.value;
  if (path != "name" && path != "description") replace_reason(document, path, reason);
}

}  // namespace dvp::platform
