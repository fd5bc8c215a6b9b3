#include "tlm/lpddr5/check/data_bus.h"

#include <cstdlib>

namespace dvp::lpddr5 {

data_bus::data_bus(const device& d)
    : read_latency_(d.times.RL),
      write_latency_(d.times.WL),
      rank_gap_(d.shape.ranks > 1 ? d.times.RTRS : 0),
      beats_(ring) {
  const cycles burst = d.shape.burst_length / d.shape.beats_per_ck;
  gap_ = d.times.BL_n_min - burst;
  half_ = gap_ > 0 ? burst / 2 : burst;
}

std::optional<data_bus::meeting> data_bus::take(const issued_command& c) {
  const cycles first = c.at + (is_read(c.what) ? read_latency_ + c.late_cycles : write_latency_);
  const cycles clocks = c.io_cycles != 0 ? c.io_cycles : gap_ > 0 ? 2 * half_ : half_;
  std::optional<meeting> met;
  for (cycles i = 0; i < clocks; ++i) {
    const cycles clock = first + i + (i < half_ ? 0 : gap_);
    if (auto m = take(clock, c); m && !met) met = m;
  }
  return met;
}

std::optional<data_bus::meeting> data_bus::take(cycles clock, const issued_command& c) {
  const auto at = [&](cycles t) -> beat& { return beats_[static_cast<std::size_t>(t & (ring - 1))]; };
  std::optional<meeting> met;
  for (cycles distance = rank_gap_; distance > 0 && !met; --distance) {
    for (const cycles t : {clock - distance, clock + distance}) {
      const beat& near = at(t);
      if (near.clock == t && near.rank != c.rank && near.command != c.at) {
        met = meeting{"tRTRS", rank_gap_, distance - 1, near.command};
      }
    }
  }
  beat& here = at(clock);
  if (here.clock == clock) met = meeting{"data bus", 0, -1, here.command};
  here = {clock, c.at, c.rank};
  return met;
}

}  // namespace dvp::lpddr5
