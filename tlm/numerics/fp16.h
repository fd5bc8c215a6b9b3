// FP16 (IEEE binary16): 1 sign, 5 exponent, 10 fraction bits; the scales of GGUF Q8_0.
#pragma once

#include <bit>
#include <cstdint>

#include "tlm/numerics/fp32.h"

namespace dvp::numerics {

inline constexpr std::uint16_t canonical_nan_fp16 = 0x7e00;

// Exact, subnormals included; every NaN code gives the canonical NaN.
constexpr float from_fp16(std::uint16_t code) {
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000u) << 16;
  const std::uint32_t magnitude = code & 0x7fffu;
  if (magnitude > 0x7c00u) return std::bit_cast<float>(canonical_nan_bits);
  if (magnitude == 0x7c00u) return std::bit_cast<float>(sign | 0x7f80'0000u);
  if (magnitude < 0x0400u) {
    const float value = static_cast<float>(magnitude) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + ((127u - 15u) << 23)));
}

// Round to nearest even; subnormals kept; from 65520 on infinity; every NaN becomes 0x7e00.
constexpr std::uint16_t to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fff'ffffu;
  if (magnitude > 0x7f80'0000u) return canonical_nan_fp16;
  if (magnitude >= 0x477f'f000u) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x3880'0000u) {
    // Adding 1/2 leaves the result as a multiple of 2^-24 in the low fraction bits, rounded by the addition.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3f00'0000u));
  }
  const std::uint32_t rounded = magnitude + 0x0fffu + ((magnitude >> 13) & 1u) - ((127u - 15u) << 23);
  return static_cast<std::uint16_t>(sign | (rounded >> 13));
}

}  // namespace dvp::numerics
