// Whether a device makes sense, whatever file it came from.
#pragma once

#include <string>

#include "tlm/lpddr5/device/device.h"

namespace dvp::lpddr5 {

// core::config_error, one sentence with `file` and the timing or size at fault: sizes that are no powers of two, bursts
// that do not fit rows or bank mode, clocks and latencies out of range or beyond REFI, timings that contradict each
// other (RC below RAS + RP, FAW below RRD), data faster than the pins, refresh that leaves no time for accesses.
void check_device(const device& d, const std::string& file);

}  // namespace dvp::lpddr5
