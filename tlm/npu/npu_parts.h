// What the processes of one NPU share. The npu module owns it; everything else holds a reference.
#pragma once

#include <algorithm>
#include <systemc>

#include "tlm/core/timeline.h"
#include "tlm/npu/counters.h"
#include "tlm/npu/npu_clock.h"
#include "tlm/npu/npu_config.h"
#include "tlm/npu/reset_line.h"
#include "tlm/npu/scratchpad.h"

namespace dvp::npu {

struct npu_parts {
  npu_parts(const npu_config& configuration, core::timeline& trace)
      : config(configuration),
        clock(configuration.clock_hz),
        memory(configuration.scratchpad_bytes, configuration.scratchpad_banks, reset),
        timeline(trace) {}

  npu_config config;
  npu_clock clock;
  reset_line reset;
  counters counts;
  scratchpad memory;
  core::timeline& timeline;

  // Waits for whole cycles, or until the first edge at or after both `time` and now.
  void wait_cycles(std::uint64_t cycles) {
    if (cycles != 0) reset.wait(clock.cycles(cycles));
  }
  void wait_until(const sc_core::sc_time& time) {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    const sc_core::sc_time until = clock.time_of(clock.edge(std::max(time, now)));
    if (until > now) reset.wait(until - now);
  }
};

}  // namespace dvp::npu
