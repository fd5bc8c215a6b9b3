// What a vector descriptor does to the scratchpad: numerics/rows.h, row after row.
#pragma once

#include <cstddef>
#include <span>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

// The descriptor passed check(). Rows run in ascending order, so a destination that overlaps a source otherwise than
// by being the same operand of the same element size sees partly written sources.
void execute_vector(const gen::vector_descriptor& d, std::span<std::byte> scratchpad);

}  // namespace dvp::npu
