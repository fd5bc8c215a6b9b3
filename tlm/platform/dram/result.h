// What one playing of traffic gave: everything that the table and stats.json are made from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::platform {

struct check_result {
  std::uint64_t commands = 0;
  std::uint64_t violations = 0;
  std::vector<std::string> sentences;  // the first few violations
};

struct dram_result {
  lpddr5::memory_config memory;
  std::string traffic;  // what was played, one line
  std::uint64_t requests = 0;
  std::uint64_t outstanding = 0;  // limit per source; 0: none
  std::optional<std::uint64_t> seed;
  lpddr5::cycles end = 0;  // last beat of the last request
  lpddr5::system_figures figures;
  lpddr5::energy_figures energy;
  std::optional<check_result> check;
  std::string unchecked;  // why there is none

  double seconds() const;                    // simulated
  double peak_bytes_per_second() const;      // of all channels
  double bytes_per_second() const;           // asked for and delivered
  double share(std::uint64_t clocks) const;  // of the clocks of all data buses
  double busy_share() const;
  // By cause. A channel that was done before the others had no request from then on.
  std::array<double, lpddr5::idle_cause_count> idle_shares() const;
};

}  // namespace dvp::platform
