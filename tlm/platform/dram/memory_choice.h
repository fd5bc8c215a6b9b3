// The memory that --config and --set ask for.
#pragma once

#include <string>
#include <vector>

#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::platform {

// Assignments "path=value" change the document, files it names already in their place; in a DRAMSys file the path
// starts below "simulation". config_error and usage_error, one sentence each.
lpddr5::memory_config choose_memory(const std::string& path_or_name, const std::vector<std::string>& overrides);

}  // namespace dvp::platform
