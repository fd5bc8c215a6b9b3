// The "tracesetup" of a DRAMSys simulation file: several players and generators at once.
#pragma once

#include "tlm/platform/dram/traffic.h"

namespace dvp::platform {

// Sources for memory.traffic, which is not empty. Traces that are not where the file says are looked for in traces/
// there. usage_error and traffic_error for traffic that does not fit the memory.
planned_traffic plan_tracesetup(const dram_options& options, const lpddr5::memory_config& memory,
                                const lpddr5::address_mapping& mapping);

}  // namespace dvp::platform
