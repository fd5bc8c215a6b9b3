// Timeline of a memory's data buses: one track per channel, consecutive bursts of one direction merged.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <systemc>
#include <vector>

#include "tlm/core/merged_slices.h"
#include "tlm/core/timeline.h"
#include "tlm/lpddr5/ck_clock.h"
#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

class data_bus_track : public command_sink {
 public:
  // Draws when the timeline is on and passes every command on to `next`, which may be null. Device, timeline and next
  // outlive this object. Bursts at most `gap` apart are one slice with args {count, bytes}.
  data_bus_track(core::timeline& out, std::string_view name, const device& d, std::uint32_t channels,
                 const sc_core::sc_time& gap, command_sink* next);

  // False: it has nothing to do, and commands need not come here.
  bool wanted() const { return !tracks_.empty() || next_ != nullptr; }

  void issued(std::uint32_t channel, const issued_command& command) override;
  // Writes the slices that still wait for a follower.
  void flush();

 private:
  const device& device_;
  ck_clock clock_;
  command_sink* next_;
  std::vector<std::unique_ptr<core::merged_slices>> tracks_;  // by channel; empty while the timeline is off
};

}  // namespace dvp::lpddr5
