#include "tlm/platform/recorded_memory.h"

#include "dvp_gen/dram.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/reasons.h"

namespace dvp::platform {

std::optional<lpddr5::memory_config> recorded_memory(const nlohmann::ordered_json& configuration) {
  const nlohmann::ordered_json* described = find_figure(configuration, "memory.config");
  if (described == nullptr) return std::nullopt;
  try {
    return described->is_string() ? lpddr5::load_memory_config(described->get<std::string>())
                                  : lpddr5::parse_memory_config(described->dump(), "memory.config", "");
  } catch (const core::config_error&) {
    return std::nullopt;
  }
}

std::string energy_source(const nlohmann::ordered_json& configuration, const lpddr5::memory_config& memory,
                          const std::string& key, const std::string& standard) {
  if (find_figure(memory.source, "energy." + key) != nullptr) {
    return reason_of(configuration, "memory.config.energy." + key);
  }
  if (!memory.source.contains("device")) return memory.dev.energy.basis;
  const auto figures = nlohmann::ordered_json::parse(gen::dram::standards[0].text)["energy"];
  for (const auto& figure : figures) {
    if (figure["name"] == standard) return figure["source"];
  }
  return memory.dev.energy.basis;
}

}  // namespace dvp::platform
