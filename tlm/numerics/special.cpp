#include "tlm/numerics/special.h"

#include <bit>
#include <cstdint>
#include <limits>

#include "tlm/numerics/exp_steps.h"
#include "tlm/numerics/fp32.h"

namespace dvp::numerics {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::bit_cast<float>(canonical_nan_bits);

// x = fraction * 2^exponent, fraction bits within [base, base * 2) of `base_bits`; x positive and finite.
struct split_float {
  float fraction;
  std::int32_t exponent;
};

split_float split(float x, std::uint32_t base_bits) {
  std::int32_t exponent = 0;
  if (x < std::numeric_limits<float>::min()) {
    x *= 0x1p24f;
    exponent = -24;
  }
  const std::uint32_t offset = std::bit_cast<std::uint32_t>(x) - base_bits;
  exponent += static_cast<std::int32_t>(offset) >> 23;
  return {std::bit_cast<float>((offset & 0x007f'ffffu) + base_bits), exponent};
}

}  // namespace

float exp(float x) {
  return steps::exp(x);
}

float log(float x) {
  if (x != x || x < 0.0f) return nan;
  if (x == 0.0f) return -infinity;
  if (x == infinity) return x;
  // Fraction from sqrt(1/2) up to sqrt(2), so that f is small and log(1) exact.
  const split_float parts = split(x, 0x3f35'04f3u);
  const float f = parts.fraction - 1.0f;
  const float n = static_cast<float>(parts.exponent);
  // log(1 + f) = 2 s + s R(s^2) with s = f / (2 + f), rewritten so that f itself enters unrounded.
  const float s = f / (2.0f + f);
  const float z = s * s;
  float r = 0.2333096405f;
  r = r * z + 0.2855080255f;
  r = r * z + 0.40000122f;
  r = r * z + 0.6666666655f;
  r = r * z;
  const float half_square = 0.5f * f * f;
  // ln 2 in two parts; the first has sixteen bits, so its product with n is exact.
  constexpr float ln2_high = 0.693145751953125f;
  constexpr float ln2_low = 1.42860682031e-6f;
  return n * ln2_high - ((half_square - (s * (half_square + r) + n * ln2_low)) - f);
}

float rsqrt(float x) {
  if (x != x || x < 0.0f) return nan;
  if (x == 0.0f) return infinity;
  if (x == infinity) return 0.0f;
  // Fraction from 1 up to 4, an even exponent.
  split_float parts = split(x, 0x3f80'0000u);
  if (parts.exponent & 1) {
    parts.fraction *= 2.0f;
    parts.exponent -= 1;
  }
  const float a = parts.fraction;
  float y = std::bit_cast<float>(0x5f37'59dfu - (std::bit_cast<std::uint32_t>(a) >> 1));
  y = y * (1.5f - (0.5f * a) * (y * y));
  y = y * (1.5f - (0.5f * a) * (y * y));
  // Last step as a correction, so that its rounding error is small against y.
  y = y + (0.5f * y) * (1.0f - (a * y) * y);
  return y * steps::power_of_two(-parts.exponent / 2);
}

float reciprocal(float x) {
  return canonical(1.0f / x);
}

float sigmoid(float x) {
  const float e = steps::exp(x < 0.0f ? x : -x);
  return canonical((x < 0.0f ? e : 1.0f) / (1.0f + e));
}

float silu(float x) {
  return steps::silu(x);
}

}  // namespace dvp::numerics
