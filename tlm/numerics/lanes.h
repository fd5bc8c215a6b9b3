// Sixteen binary32 values worked on side by side; for the bodies of this folder only. GCC's vector extension: one
// AVX-512 register, several narrower ones, or plain loops, as the target has them.
#pragma once

#include <bit>
#include <cstdint>

#include "tlm/numerics/fp32.h"

namespace dvp::numerics {

inline constexpr std::uint32_t lane_count = 16;

using lanes [[gnu::vector_size(lane_count * sizeof(float))]] = float;

[[gnu::always_inline]] inline void load(lanes& value, const float* from) {
  __builtin_memcpy(&value, from, sizeof value);
}

// Stores value with every NaN canonical.
[[gnu::always_inline]] inline void store_canonical(const lanes& value, float* to) {
  const lanes nan = lanes{} + std::bit_cast<float>(canonical_nan_bits);
  const lanes clean = value == value ? value : nan;
  __builtin_memcpy(to, &clean, sizeof clean);
}

}  // namespace dvp::numerics
