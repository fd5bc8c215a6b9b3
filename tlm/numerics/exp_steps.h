// The steps of exp(), inline so that loops over rows vectorise; for the bodies of this folder only.
#pragma once

#include <bit>
#include <cstdint>

#include "tlm/numerics/fp32.h"

namespace dvp::numerics::steps {

// Arguments beyond these give 0 and infinity whatever comes after the last bit.
inline constexpr float exp_lowest = -104.0f;
inline constexpr float exp_highest = 89.0f;

// silu(-x) is -0 from here on.
inline constexpr float silu_smallest = 112.0f;

// 2^n for n in -126..127.
inline float power_of_two(std::int32_t n) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(n + 127) << 23);
}

// value * 2^n for n in -252..254 and a normal value; rounds once, in the second product, when the result is subnormal.
inline float scale(float value, std::int32_t n) {
  const std::int32_t half = n >> 1;
  return (value * power_of_two(half)) * power_of_two(n - half);
}

// exp(x) = fraction * 2^exponent with fraction in about 0.7..1.42.
struct split_exp {
  float fraction;
  std::int32_t exponent;
};

// x in -112..89.
inline split_exp exp_split(float x) {
  // Adding 1.5 * 2^23 rounds to an integer, which the low bits of the sum then hold.
  constexpr float rounder = 0x1.8p23f;
  const float shifted = x * 0x1.715476p0f + rounder;
  const std::int32_t n =
      static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(shifted) - std::bit_cast<std::uint32_t>(rounder));
  const float whole = shifted - rounder;
  // ln 2 in two parts; the first has ten bits, so its product with n is exact.
  float r = x - whole * 0.693359375f;
  r = r - whole * -2.12194440055e-4f;
  float q = 0x1.a12516p-13f;
  q = q * r + 0x1.6d434ep-10f;
  q = q * r + 0x1.1110e0p-7f;
  q = q * r + 0x1.5554e8p-5f;
  q = q * r + 0x1.555556p-3f;
  q = q * r + 0x1.0p-1f;
  return {((q * r) * r + r) + 1.0f, n};
}

inline float exp(float x) {
  const float above = x < exp_lowest ? exp_lowest : x;
  const float inside = above > exp_highest ? exp_highest : above;
  const split_exp e = exp_split(inside == inside ? inside : 0.0f);
  return x == x ? scale(e.fraction, e.exponent) : std::bit_cast<float>(canonical_nan_bits);
}

inline float silu(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  const split_exp e = exp_split(magnitude < silu_smallest ? -magnitude : -silu_smallest);
  const float power = scale(e.fraction, e.exponent);
  const float quotient = (x < 0.0f ? x * power : x) / (1.0f + power);
  // Scaling last keeps the relative accuracy where exp(x) alone is subnormal; the denominator is 1 there.
  const float scaled = scale(-magnitude * e.fraction, e.exponent);
  const float value = x < -20.0f ? scaled : quotient;
  return x < -silu_smallest ? -0.0f : canonical(value);
}

}  // namespace dvp::numerics::steps
