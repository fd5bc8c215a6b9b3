// The LPDDR5 memory of a configuration that a run recorded in stats.json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::platform {

// Empty for a memory of model fixed, and for one whose files are no longer where the configuration says.
std::optional<lpddr5::memory_config> recorded_memory(const nlohmann::ordered_json& configuration);

// Why an energy of the memory's device is what it is: the configuration's reason where its memory.config.energy has
// `key` (which is "" where the configuration gives none), the standard's source for its figure `standard` where the
// device is a built-in one, else what is said of all energies together.
std::string energy_source(const nlohmann::ordered_json& configuration, const lpddr5::memory_config& memory,
                          const std::string& key, const std::string& standard);

}  // namespace dvp::platform
