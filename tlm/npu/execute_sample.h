// What a sample descriptor does to the scratchpad: numerics/sampling.h for every row, state kept between chunks.
#pragma once

#include <cstddef>
#include <span>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

// The descriptor passed check(). Row r has position first_row + r (modulo 2^32).
void execute_sample(const gen::sample_descriptor& d, std::span<std::byte> scratchpad);

}  // namespace dvp::npu
