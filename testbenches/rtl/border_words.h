// Random binary32 operands that land on the borders of an adder.
#pragma once

#include <algorithm>
#include <array>

#include "testbenches/rtl/host_arithmetic.h"

namespace dvp::test {

// binary32 words that land on the borders of the adder.
inline std::uint32_t border_word(random_words& random) {
  static constexpr std::array<std::uint32_t, 12> corners = {0x0000'0000, 0x8000'0000, 0x0000'0001, 0x007f'ffff,
                                                            0x0080'0000, 0x0080'0001, 0x7f7f'ffff, 0xff7f'ffff,
                                                            0x7f80'0000, 0xff80'0000, 0x7fc0'0000, 0x7f80'0001};
  const std::uint32_t word = random();
  switch (random() % 8) {
    case 0:
      // A NaN with one bit of fraction, or a corner.
      if (random() % 4 == 0) return (word & 0x8000'0000u) | 0x7f80'0000u | 1U << word % 23;
      return corners[word % corners.size()] ^ (word & 0x8000'0000u);
    case 1:
      return word & 0x80ff'ffffu;  // subnormal or nearly
    case 2:
      return (word & (random() % 2 == 0 ? 0x807f'00ffu : 0x807f'ffffu)) | 0x7f00'0000u;  // near overflow
    case 3:
      return (word & 0xff80'0000u) | ((random() % 3 - 1) & 0x7f'ffffu);  // all ones, zeros, or one: long carries
    default:
      return word;
  }
}

// A word whose exponent is at most 30 away from the other's: alignment, ties and cancellation.
inline std::uint32_t near_word(std::uint32_t other, random_words& random) {
  const int exponent = static_cast<int>(other >> 23 & 255u) + static_cast<int>(random() % 61) - 30;
  const std::uint32_t field = static_cast<std::uint32_t>(std::min(std::max(exponent, 0), 255)) << 23;
  const std::uint32_t kind = random() % 4;
  const std::uint32_t fraction = kind == 0   ? random() & 0x7f'ffffu
                                 : kind == 1 ? (other & 0x7f'ffffu)
                                 : kind == 2 ? ((other + random() % 5 - 2) & 0x7f'ffffu)
                                             : (0x7f'ffffu << random() % 24) & 0x7f'ffffu;
  return (random() & 0x8000'0000u) | field | fraction;
}

}  // namespace dvp::test
