// numeric_pkg against the host's floating point and, for a sample, against MPFR.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <array>
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "Vnumeric_functions.h"
#include "testbenches/rtl/host_arithmetic.h"

namespace dvp::test {
namespace {

class numeric : public ::testing::Test {
 protected:
  std::uint32_t product(std::uint16_t a, std::uint16_t b) {
    functions_.a_i = a;
    functions_.b_i = b;
    functions_.eval();
    return functions_.product_o;
  }
  std::uint32_t code_product(std::uint16_t a, std::int8_t code) {
    functions_.a_i = a;
    functions_.code_i = static_cast<std::uint8_t>(code);
    functions_.eval();
    return functions_.code_product_o;
  }
  std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
    functions_.x_i = a;
    functions_.y_i = b;
    functions_.eval();
    return functions_.sum_o;
  }
  void expect_product(std::uint16_t a, std::uint16_t b) {
    const std::uint32_t expected = host_product(host_bf16(a), host_bf16(b));
    const std::uint32_t actual = product(a, b);
    if (actual != expected) FAIL() << std::hex << a << " * " << b << " = " << actual << ", host " << expected;
  }
  void expect_sum(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t expected = host_sum(a, b);
    const std::uint32_t actual = sum(a, b);
    if (actual != expected) FAIL() << std::hex << a << " + " << b << " = " << actual << ", host " << expected;
  }

  // The random words of a test; its failures name the seed.
  random_words seeded(std::uint32_t seed) {
    RecordProperty("seed", static_cast<int>(seed));
    trace_.emplace(__FILE__, __LINE__, ::testing::Message() << "seed " << seed);
    return random_words(seed);
  }

  Vnumeric_functions functions_;
  std::optional<::testing::ScopedTrace> trace_;
};

// binary32 words that land on the borders of the adder.
std::uint32_t border_word(random_words& random) {
  static constexpr std::array<std::uint32_t, 12> corners = {0x0000'0000, 0x8000'0000, 0x0000'0001, 0x007f'ffff,
                                                            0x0080'0000, 0x0080'0001, 0x7f7f'ffff, 0xff7f'ffff,
                                                            0x7f80'0000, 0xff80'0000, 0x7fc0'0000, 0x7f80'0001};
  const std::uint32_t word = random();
  switch (random() % 8) {
    case 0:
      return corners[word % corners.size()] ^ (word & 0x8000'0000u);
    case 1:
      return word & 0x80ff'ffffu;  // subnormal or nearly
    case 2:
      return (word & 0x8000'00ffu) | 0x7f00'0000u | (word & 0x7f'0000u);  // near overflow
    case 3:
      return (word & 0xff80'0000u) | ((random() % 3 - 1) & 0x7f'ffffu);  // all ones, zeros, or one: long carries
    default:
      return word;
  }
}

// A word whose exponent is at most 30 away from the other's: alignment, ties and cancellation.
std::uint32_t near_word(std::uint32_t other, random_words& random) {
  const int exponent = static_cast<int>(other >> 23 & 255u) + static_cast<int>(random() % 61) - 30;
  const std::uint32_t field = static_cast<std::uint32_t>(std::min(std::max(exponent, 0), 255)) << 23;
  const std::uint32_t kind = random() % 4;
  const std::uint32_t fraction = kind == 0   ? random() & 0x7f'ffffu
                                 : kind == 1 ? (other & 0x7f'ffffu)
                                 : kind == 2 ? ((other + random() % 5 - 2) & 0x7f'ffffu)
                                             : (0x7f'ffffu << random() % 24) & 0x7f'ffffu;
  return (random() & 0x8000'0000u) | field | fraction;
}

TEST_F(numeric, every_bf16_times_every_code) {
  for (std::uint32_t a = 0; a < 65536; ++a) {
    for (int code = -128; code < 128; ++code) {
      const auto code8 = static_cast<std::int8_t>(code);
      const std::uint32_t expected = host_product(host_bf16(static_cast<std::uint16_t>(a)), static_cast<float>(code));
      const std::uint32_t actual = code_product(static_cast<std::uint16_t>(a), code8);
      if (actual != expected) FAIL() << std::hex << a << " * " << std::dec << code << " = " << std::hex << actual;
    }
  }
}

TEST_F(numeric, bf16_times_bf16) {
  for (const std::uint16_t corner : bf16_corners) {
    for (std::uint32_t b = 0; b < 65536; ++b) {
      expect_product(corner, static_cast<std::uint16_t>(b));
      if (HasFatalFailure()) return;
    }
  }
  random_words random = seeded(20261);
  for (int n = 0; n < 3'000'000; ++n) {
    const auto a = static_cast<std::uint16_t>(random());
    auto b = static_cast<std::uint16_t>(random());
    // Every third product falls near the end of the normal range or below it.
    if (n % 3 == 0) {
      const int exponent = static_cast<int>(random() % 40) + 100 - static_cast<int>(a >> 7 & 255u);
      b = static_cast<std::uint16_t>((b & 0x807f) | std::min(std::max(exponent, 0), 254) << 7);
    }
    expect_product(a, b);
    if (HasFatalFailure()) return;
  }
}

TEST_F(numeric, sums) {
  random_words random = seeded(20262);
  for (int n = 0; n < 6'000'000; ++n) {
    const std::uint32_t a = border_word(random);
    const std::uint32_t b = n % 4 == 0 ? border_word(random) : near_word(a, random);
    expect_sum(a, b);
    if (HasFatalFailure()) return;
  }
}

TEST_F(numeric, minus_zero_is_neutral) {
  random_words random = seeded(20263);
  for (int n = 0; n < 100'000; ++n) {
    const std::uint32_t a = border_word(random);
    ASSERT_EQ(sum(a, 0x8000'0000u), host_bits(std::bit_cast<float>(a)));
    ASSERT_EQ(sum(0x8000'0000u, a), host_bits(std::bit_cast<float>(a)));
  }
}

// binary32 with subnormals in MPFR: one rounding, by the library's own recipe.
class binary32 {
 public:
  binary32() {
    mpfr_set_emin(-148);
    mpfr_set_emax(128);
    mpfr_inits2(24, a_, b_, result_, static_cast<mpfr_ptr>(nullptr));
  }
  ~binary32() { mpfr_clears(a_, b_, result_, static_cast<mpfr_ptr>(nullptr)); }

  template <class Operation>
  std::uint32_t compute(float a, float b, Operation operation) {
    mpfr_set_flt(a_, a, MPFR_RNDN);
    mpfr_set_flt(b_, b, MPFR_RNDN);
    const int ternary = operation(result_, a_, b_, MPFR_RNDN);
    mpfr_subnormalize(result_, ternary, MPFR_RNDN);
    return host_bits(mpfr_get_flt(result_, MPFR_RNDN));
  }

 private:
  mpfr_t a_, b_, result_;
};

TEST_F(numeric, sample_against_mpfr) {
  random_words random = seeded(20264);
  binary32 oracle;
  for (int n = 0; n < 200'000; ++n) {
    const std::uint32_t x = border_word(random);
    const std::uint32_t y = near_word(x, random);
    ASSERT_EQ(sum(x, y), oracle.compute(std::bit_cast<float>(x), std::bit_cast<float>(y), mpfr_add))
        << std::hex << x << " + " << y;
    const auto a = static_cast<std::uint16_t>(x >> 16);
    const auto b = static_cast<std::uint16_t>(random());
    ASSERT_EQ(product(a, b), oracle.compute(host_bf16(a), host_bf16(b), mpfr_mul)) << std::hex << a << " * " << b;
  }
}

}  // namespace
}  // namespace dvp::test
