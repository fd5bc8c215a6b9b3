// The table a person reads after `dllm-vp dram`.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/platform/dram/result.h"

namespace dvp::platform {

// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);

// wall_seconds is the only figure that the host decides; it is in the last line.
std::string make_dram_report(const dram_result& result, double wall_seconds);
// Bandwidth and speed.
std::string make_dram_brief(const dram_result& result, double wall_seconds);

}  // namespace dvp::platform
