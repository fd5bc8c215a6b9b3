// Which clocks of a channel's data bus carry beats, and of which rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

class data_bus {
 public:
  explicit data_bus(const device& d);

  // Takes the clocks of a burst. Gives what it meets, if anything: another burst, or one of another rank closer than
  // RTRS.
  struct meeting {
    const char* name;    // "data bus" or "tRTRS"
    cycles needed, got;  // clocks from the end of one burst to the other's begin
    cycles other;        // clock of the other burst's command
  };
  std::optional<meeting> take(const issued_command& c);

 private:
  // Longer than anything lies on the bus ahead of its command: a ring indexed by clock.
  static constexpr cycles ring = 4096;
  struct beat {
    cycles clock = -ring;
    cycles command = 0;
    std::uint32_t rank = 0;
  };
  std::optional<meeting> take(cycles clock, const issued_command& c);

  cycles read_latency_, write_latency_, rank_gap_;
  cycles half_, gap_;  // clocks of a sub-burst; clocks between the two
  std::vector<beat> beats_;
};

}  // namespace dvp::lpddr5
