// The oracle of the arithmetic tests: the host's IEEE 754 hardware, to nearest even, subnormals kept.
#pragma once

#include <bit>
#include <cstdint>
#include <random>

namespace dvp::test {

// Bits of value, any NaN as 0x7fc00000.
inline std::uint32_t host_bits(float value) {
  return value != value ? 0x7fc0'0000u : std::bit_cast<std::uint32_t>(value);
}

inline float host_bf16(std::uint16_t code) {
  return std::bit_cast<float>(std::uint32_t{code} << 16);
}

inline std::uint32_t host_sum(std::uint32_t a, std::uint32_t b) {
  return host_bits(std::bit_cast<float>(a) + std::bit_cast<float>(b));
}

inline std::uint32_t host_product(float a, float b) {
  return host_bits(a * b);
}

// Random 32-bit words.
using random_words = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

// BF16 codes at the borders: zeros, smallest and largest subnormals and normals, powers around the product's range
// limits, largest finite, infinities, NaNs.
inline constexpr std::uint16_t bf16_corners[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x0003, 0x0040, 0x007f, 0x807f, 0x0080, 0x8080, 0x0081, 0x00ff, 0x0100,
    0x1f80, 0x1fff, 0x2000, 0x207f, 0x3300, 0x3380, 0x3381, 0x3f7f, 0x3f80, 0xbf80, 0x3f81, 0x3fff, 0x4000, 0x4300,
    0x5f7f, 0x5f80, 0x5fff, 0x6000, 0x7f00, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81, 0x7fff, 0xffff};

inline constexpr std::int8_t code_corners[] = {0, 1, -1, 2, -2, 3, 7, -8, 63, 64, -64, 65, 127, -127, -128};

}  // namespace dvp::test
