// Millions of additions of numeric_pkg against MPFR and the host, concentrated on the borders of an adder.
//
//   rtl_numeric_soak [--vectors N] [--seed S]     defaults 3,000,000 and 1
//
// Prints how many vectors fell on each border. Exit codes: 0 equal everywhere, 1 a difference (printed), 2 wrong usage.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>

#include "Vnumeric_functions.h"
#include "testbenches/rtl/border_words.h"
#include "testbenches/rtl/mpfr_binary32.h"

namespace dvp::test {
namespace {

// Where a vector lies; one vector may count several times.
struct border_counts {
  std::uint64_t alignment = 0;     // exponents 23 to 27 apart: the smaller operand only decides the rounding
  std::uint64_t cancellation = 0;  // signs differ, at least 8 leading bits cancel
  std::uint64_t exact_zero = 0;    // operands cancel to zero
  std::uint64_t subnormal = 0;     // an operand or the sum is subnormal
  std::uint64_t inexact = 0;       // the sum is rounded
  std::uint64_t tie = 0;           // the exact sum lies midway between two numbers
  std::uint64_t overflow = 0;      // finite operands, infinite sum
  std::uint64_t special = 0;       // an infinity or a NaN goes in

  void count(std::uint32_t a, std::uint32_t b, std::uint32_t sum) {
    const auto field = [](std::uint32_t word) { return static_cast<int>(word >> 23 & 255u); };
    const auto is_subnormal = [&](std::uint32_t word) { return field(word) == 0 && (word & 0x7f'ffffu) != 0; };
    if (field(a) == 255 || field(b) == 255) {
      ++special;
      return;
    }
    const int larger = std::max(field(a), field(b));
    const int apart = larger - std::min(field(a), field(b));
    alignment += apart >= 23 && apart <= 27 ? 1 : 0;
    const bool opposite = ((a ^ b) >> 31) != 0;
    const bool zero = (sum & 0x7fff'ffffu) == 0;
    exact_zero += opposite && zero && (a & 0x7fff'ffffu) != 0 ? 1 : 0;
    cancellation += opposite && !zero && larger - field(sum) >= 8 ? 1 : 0;
    subnormal += is_subnormal(a) || is_subnormal(b) || is_subnormal(sum) ? 1 : 0;
    overflow += field(sum) == 255 ? 1 : 0;
    if (field(sum) == 255) return;
    // The rounding error of a binary32 sum is a binary32 number and comes out exactly (Knuth's two-sum in binary64).
    const bool swapped = (b & 0x7fff'ffffu) > (a & 0x7fff'ffffu);
    const double x = std::bit_cast<float>(swapped ? b : a);
    const double y = std::bit_cast<float>(swapped ? a : b);
    const double rounded = std::bit_cast<float>(sum);
    const double virtual_y = rounded - x;
    const double error = (x - (rounded - virtual_y)) + (y - virtual_y);
    inexact += error != 0 ? 1 : 0;
    const double step = std::ldexp(1.0, std::max(field(sum), 1) - 150);
    tie += std::fabs(error) == step / 2 ? 1 : 0;
  }
};

// A pair whose exact sum is a tie or lies one unit of the smaller operand beside it.
std::uint32_t tie_partner(std::uint32_t a, random_words& random) {
  const int exponent = static_cast<int>(a >> 23 & 255u) - 24 + static_cast<int>(random() % 3);
  if (exponent < 1 || exponent > 254) return near_word(a, random);
  const std::uint32_t offset = (random() % 3 - 1) & 0x7f'ffffu;
  return (random() & 0x8000'0000u) | static_cast<std::uint32_t>(exponent) << 23 | (random() % 2 == 0 ? 0 : offset);
}

// The other sign and nearly the same magnitude, so that any number of leading bits cancels.
std::uint32_t cancelling_partner(std::uint32_t a, random_words& random) {
  const std::uint32_t magnitude = a & 0x7fff'ffffu;
  const std::uint32_t offset = random() >> (8 + random() % 24);
  const std::uint32_t near = random() % 2 == 0 ? magnitude + offset : magnitude - std::min(offset, magnitude);
  return (~a & 0x8000'0000u) | std::min(near, 0x7f7f'ffffu);
}

int soak(std::uint64_t vectors, std::uint32_t seed) {
  Vnumeric_functions functions;
  binary32 mpfr;
  random_words random(seed);
  border_counts borders;
  for (std::uint64_t n = 0; n < vectors; ++n) {
    const std::uint32_t a = border_word(random);
    const std::uint32_t b = n % 8 == 0   ? border_word(random)
                            : n % 8 == 1 ? tie_partner(a, random)
                            : n % 8 < 4  ? cancelling_partner(a, random)
                                         : near_word(a, random);
    functions.x_i = a;
    functions.y_i = b;
    functions.eval();
    const std::uint32_t sum = functions.sum_o;
    const std::uint32_t wanted = mpfr.compute(std::bit_cast<float>(a), std::bit_cast<float>(b), mpfr_add);
    if (sum != wanted || sum != host_sum(a, b) || sum != functions.two_stages_o || sum != functions.three_stages_o) {
      std::cout << std::hex << a << " + " << b << " = " << sum << ", in two stages " << functions.two_stages_o
                << ", in three " << functions.three_stages_o << "; MPFR " << wanted << ", host " << host_sum(a, b)
                << std::dec << " (vector " << n << ", seed " << seed << ")\n";
      return 1;
    }
    borders.count(a, b, sum);
  }
  std::cout << vectors << " sums equal MPFR and the host (seed " << seed << ")\n"
            << "  alignment by 23 to 27   " << borders.alignment << "\n  cancellation            "
            << borders.cancellation << "\n  exact zero              " << borders.exact_zero
            << "\n  subnormal               " << borders.subnormal << "\n  rounded                 " << borders.inexact
            << "\n  tie                     " << borders.tie << "\n  overflow                " << borders.overflow
            << "\n  infinity or NaN         " << borders.special << '\n';
  return 0;
}

}  // namespace
}  // namespace dvp::test

int main(int argc, char** argv) {
  std::uint64_t vectors = 3'000'000;
  std::uint32_t seed = 1;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    char* end = nullptr;
    const std::uint64_t value = i + 1 < argc ? std::strtoull(argv[i + 1], &end, 10) : 0;
    if (end == nullptr || *end != '\0' || value == 0 || (option != "--vectors" && option != "--seed")) {
      std::cerr << "usage: rtl_numeric_soak [--vectors N] [--seed S]\n";
      return 2;
    }
    if (option == "--vectors") {
      vectors = value;
    } else {
      seed = static_cast<std::uint32_t>(value);
    }
  }
  return dvp::test::soak(vectors, seed);
}
