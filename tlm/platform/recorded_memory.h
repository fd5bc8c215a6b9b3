// The LPDDR5 memory of a configuration that a run recorded in stats.json.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::platform {

// Empty for a memory of model fixed, and for one whose files are no longer where the configuration says.
std::optional<lpddr5::memory_config> recorded_memory(const nlohmann::ordered_json& configuration);

}  // namespace dvp::platform
