// Times of forwards as a staircase.
#pragma once

#include <cstdint>
#include <vector>

#include "dvp_gen/request.h"

namespace dvp::platform {

// Raises every time to the longest before it; returns how many were raised. Refresh of the memory may make a forward of
// more rows a little faster than one of fewer.
std::uint32_t raise_to_monotone(std::vector<std::uint32_t>& ns);

// ns[i]: time of i + 1 rows, not falling. A stair goes on while times are at most 1 + tolerance times its shortest, and
// takes its longest. Where that makes more than `most` stairs, the tolerance is doubled until it does not. Returns
// {last rows, time} of each.
std::vector<gen::latency_entry> make_stairs(const std::vector<std::uint32_t>& ns, double tolerance, std::size_t most);

}  // namespace dvp::platform
