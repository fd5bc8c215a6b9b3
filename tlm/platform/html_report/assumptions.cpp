#include "tlm/platform/html_report/assumptions.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "dvp_gen/dram.h"
#include "tlm/platform/reasons.h"
#include "tlm/platform/recorded_memory.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

ordered_json assumption(const std::string& path, const ordered_json& value, const std::string& reason) {
  return {{"path", path}, {"value", value}, {"kind", kind_of_reason(reason)}, {"reason", reason}};
}

bool is_list_of_values(const ordered_json& value) {
  return value.is_array() && std::none_of(value.begin(), value.end(), [](const auto& v) { return v.is_structured(); });
}

// Leaves, and lists of plain values as one.
void add_values(ordered_json& to, const ordered_json& configuration, const ordered_json& place,
                const std::string& path) {
  if (place.is_primitive() || is_list_of_values(place)) {
    to.push_back(assumption(path, place, reason_of(configuration, path)));
    return;
  }
  std::size_t number = 0;
  for (const auto& item : place.items()) {
    const std::string key = place.is_array() ? std::to_string(number++) : item.key();
    // What says something about values is none.
    if (key == "why" || key == "description" || key == "$schema" || (path.empty() && key == "name")) continue;
    add_values(to, configuration, item.value(), path.empty() ? key : path + "." + key);
  }
}

void add_device(ordered_json& to, const lpddr5::memory_config& memory) {
  std::istringstream lines(memory.dev.provenance);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    if (colon == std::string::npos) continue;
    to.push_back(assumption("memory.device.timing", line.substr(0, colon), line.substr(colon + 2)));
  }
  // One that a memspec describes has currents of its own.
  if (!memory.source.contains("device")) {
    to.push_back(assumption("memory.device.energy", memory.dev.id, memory.dev.energy.basis));
    return;
  }
  const ordered_json standard = ordered_json::parse(gen::dram::standards[0].text);
  for (const auto& price : standard["energy"]) {
    to.push_back(assumption("memory.device.energy." + price["name"].get<std::string>(), price["value"],
                            price["source"].get<std::string>()));
  }
}

}  // namespace

ordered_json assumptions_of(const ordered_json& configuration) {
  ordered_json list = ordered_json::array();
  add_values(list, configuration, configuration, "");
  if (const auto memory = recorded_memory(configuration)) add_device(list, *memory);
  return list;
}

}  // namespace dvp::platform
