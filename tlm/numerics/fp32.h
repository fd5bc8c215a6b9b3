// binary32 with one NaN.
//
// Every NaN that leaves this library has the bits 0x7fc00000: x86 makes 0xffc00000 by default and propagates payloads,
// RISC-V does neither. Sums and products are rounded one by one to nearest even, subnormals kept, so callers must be
// compiled without contraction.
#pragma once

#include <bit>
#include <cstdint>

namespace dvp::numerics {

inline constexpr std::uint32_t canonical_nan_bits = 0x7fc0'0000u;

// value, any NaN replaced by the canonical one.
constexpr float canonical(float value) {
  return value != value ? std::bit_cast<float>(canonical_nan_bits) : value;
}

constexpr float add(float a, float b) {
  return canonical(a + b);
}

constexpr float multiply(float a, float b) {
  return canonical(a * b);
}

}  // namespace dvp::numerics
