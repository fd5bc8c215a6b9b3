#include "tlm/platform/recorded_memory.h"

#include "tlm/platform/figures.h"

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

}  // namespace dvp::platform
