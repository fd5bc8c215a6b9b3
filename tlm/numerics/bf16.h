// BF16: 1 sign, 8 exponent, 7 fraction bits; the upper half of a binary32.
#pragma once

#include <bit>
#include <cstdint>

#include "tlm/numerics/fp32.h"

namespace dvp::numerics {

inline constexpr std::uint16_t canonical_nan_bf16 = 0x7fc0;

// Round to nearest even; subnormals kept; values from the midpoint above the largest finite code become infinity; every
// NaN becomes 0x7fc0.
constexpr std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return (bits & 0x7fff'ffffu) > 0x7f80'0000u ? canonical_nan_bf16 : static_cast<std::uint16_t>(rounded);
}

// Exact; every NaN code gives the canonical NaN.
constexpr float from_bf16(std::uint16_t code) {
  return canonical(std::bit_cast<float>(static_cast<std::uint32_t>(code) << 16));
}

}  // namespace dvp::numerics
