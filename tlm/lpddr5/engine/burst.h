// One burst on its way through a channel.
#pragma once

#include <cstdint>

#include "tlm/lpddr5/device/command.h"

namespace dvp::lpddr5 {

struct burst {
  std::uint32_t access = 0;  // whose it is: a slot of the memory system
  std::uint32_t row = 0;
  std::uint16_t column = 0;  // device columns, a multiple of the burst length
  std::uint8_t rank = 0;
  std::uint8_t bank = 0;  // within the rank
  bool write = false;
  bool full = true;  // a write that replaces every byte of the burst

  // Of precision-tagged reads; a plain burst is one column access, the device's burst on the bus, and not late.
  std::uint8_t columns = 1;          // column accesses of the cell array, all in this row
  std::uint8_t column_step = 1;      // ... so many bursts apart
  std::uint8_t core_slots = 1;       // burst slots those take at the core feed: ceil(columns / feed)
  std::uint16_t io_cycles = 0;       // clocks on the data bus; 0: the device's burst
  std::uint8_t late_cycles = 0;      // the data follows RL so much later
  std::uint16_t convert_cycles = 0;  // added to the time of the last beat
};

// What the memory system learns from its channels. Times of one channel do not go back.
class burst_sink {
 public:
  virtual ~burst_sink() = default;
  virtual void queued(const burst& b, cycles at) = 0;  // it found room
  virtual void finished(const burst& b,
                        cycles at) = 0;  // last beat; told when its command is decided, so `at` may lie ahead
};

}  // namespace dvp::lpddr5
