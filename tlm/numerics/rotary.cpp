#include "tlm/numerics/rotary.h"

#include <bit>
#include <cstdint>

namespace dvp::numerics {

namespace {

constexpr double ln2_high = 0x1.62e42fefp-1;  // 32 bits
constexpr double ln2_low = 0x1.473de6af278edp-34;
constexpr double half_pi_high = 0x1.921fb544p0;  // 33 bits, so up to 2^20 multiples are exact
constexpr double half_pi_middle = 0x1.0b4611a6p-34;
constexpr double half_pi_low = 0x1.3198a2e037073p-69;
constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
constexpr double rounder = 0x1.8p52;  // adding it rounds to an integer held in the low bits

std::uint64_t bits_of(double x) {
  return std::bit_cast<std::uint64_t>(x);
}

// Natural logarithm of a positive normal x: n ln 2 + 2 atanh(s), |s| < 0.1716, by its series.
double logarithm(double x) {
  constexpr std::uint64_t base_bits = 0x3fe6'a09e'667f'3bcd;  // sqrt(1/2)
  const std::uint64_t offset = bits_of(x) - base_bits;
  const double n = static_cast<double>(static_cast<std::int64_t>(offset) >> 52);
  const double f = std::bit_cast<double>((offset & 0x000f'ffff'ffff'ffff) + base_bits) - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double r = 0;
  for (int k = 25; k >= 3; k -= 2) r = (r + 1.0 / k) * z;
  return n * ln2_high + (n * ln2_low + (2.0 * s + (2.0 * s) * r));
}

// exp(-y) for y from 0 to 700, by its series on |r| < 0.35.
double exponential_of_minus(double y) {
  const double shifted = -y * 0x1.71547652b82fep0 + rounder;
  const double n = shifted - rounder;
  const double r = (-y - n * ln2_high) - n * ln2_low;
  double sum = 0;
  for (int k = 15; k >= 1; --k) sum = (sum + 1.0) * (r * (1.0 / k));
  const std::uint64_t exponent = bits_of(shifted) - bits_of(rounder) + 1023;
  return (sum + 1.0) * std::bit_cast<double>(exponent << 52);
}

// Sine and cosine series on |r| < pi / 4 + a little.
double sine_near_zero(double r) {
  const double z = r * r;
  double sum = 0;
  for (int k = 17; k >= 3; k -= 2) sum = (1.0 - sum) * (z * (1.0 / (k * (k - 1))));
  return r - r * sum;
}

double cosine_near_zero(double r) {
  const double z = r * r;
  double sum = 0;
  for (int k = 18; k >= 4; k -= 2) sum = (1.0 - sum) * (z * (1.0 / (k * (k - 1))));
  return (1.0 - 0.5 * z) + (0.5 * z) * sum;
}

}  // namespace

rotation rotary(std::uint32_t position, std::uint32_t pair, std::uint32_t head_length, float base) {
  const double power = (2.0 * pair) / head_length;
  const double frequency = exponential_of_minus(power * logarithm(static_cast<double>(base)));
  const double angle = position * frequency;

  const double shifted = angle * two_over_pi + rounder;
  const double quarters = shifted - rounder;
  const double r = ((angle - quarters * half_pi_high) - quarters * half_pi_middle) - quarters * half_pi_low;
  const float cosine = static_cast<float>(cosine_near_zero(r));
  const float sine = static_cast<float>(sine_near_zero(r));
  switch (bits_of(shifted) & 3) {
    case 0:
      return {cosine, sine};
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    default:
      return {sine, -cosine};
  }
}

}  // namespace dvp::numerics
