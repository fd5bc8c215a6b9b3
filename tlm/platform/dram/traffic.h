// From options, or from the tracesetup of a DRAMSys file, to sources of traffic.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/traffic/traffic_player.h"
#include "tlm/platform/dram/options.h"

namespace dvp::platform {

struct planned_source {
  std::unique_ptr<lpddr5::traffic_source> source;
  lpddr5::player_limits limits;
};

struct planned_traffic {
  std::vector<planned_source> sources;
  std::string what;                       // one line for the reader
  std::optional<std::uint64_t> seed;      // of a generator
  std::optional<std::uint64_t> requests;  // where it is known beforehand
};

// What the options and the memory say of any trace.
lpddr5::trace_options trace_options_for(const dram_options& options, const lpddr5::memory_config& memory,
                                        const lpddr5::address_mapping& mapping);

// `mapping` outlives what is returned. usage_error and traffic_error for traffic that does not fit the memory.
planned_traffic plan_traffic(const dram_options& options, const lpddr5::memory_config& memory,
                             const lpddr5::address_mapping& mapping);

}  // namespace dvp::platform
