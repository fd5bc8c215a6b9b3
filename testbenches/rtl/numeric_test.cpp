// numeric_pkg against the host's floating point and, for a sample, against MPFR.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <tuple>

#include "Vnumeric_functions.h"
#include "testbenches/rtl/border_words.h"
#include "testbenches/rtl/host_arithmetic.h"
#include "testbenches/rtl/mpfr_binary32.h"

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
    if (functions_.two_stages_o != actual || functions_.three_stages_o != actual) {
      FAIL() << std::hex << a << " + " << b << " = " << actual << ", in two stages " << functions_.two_stages_o
             << ", in three " << functions_.three_stages_o;
    }
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

// What the 256 patterns of a code's byte stand for; bits above a narrow code do not count.
std::array<float, 256> meanings(std::uint32_t bits, bool half_step) {
  std::array<float, 256> result{};
  for (int byte = 0; byte < 256; ++byte) {
    int code = byte & ((1 << bits) - 1);
    if (code >= 1 << (bits - 1)) code -= 1 << bits;
    const int step = 1 << (8 - bits);
    result[static_cast<std::size_t>(byte)] = static_cast<float>(half_step ? code * step + step / 2 : code);
  }
  return result;
}

class code_products : public numeric, public ::testing::WithParamInterface<std::tuple<int, bool>> {};

TEST_P(code_products, every_bf16_times_every_code) {
  const auto [format, half_step] = GetParam();
  const std::array<float, 256> wanted = meanings(16U >> format, half_step);
  functions_.format_i = static_cast<std::uint8_t>(format);
  functions_.half_step_i = half_step;
  for (std::uint32_t a = 0; a < 65536; ++a) {
    functions_.a_i = static_cast<std::uint16_t>(a);
    for (std::uint32_t code = 0; code < 256; ++code) {
      functions_.code_i = static_cast<std::uint8_t>(code);
      functions_.eval();
      const std::uint32_t expected = host_product(host_bf16(static_cast<std::uint16_t>(a)), wanted[code]);
      if (functions_.code_product_o != expected) {
        FAIL() << std::hex << a << " * code " << code << " = " << functions_.code_product_o << ", host " << expected;
      }
    }
  }
}

// Formats are numbered bf16, q8, q4, q2; q8 knows no half step.
INSTANTIATE_TEST_SUITE_P(formats, code_products,
                         ::testing::Values(std::tuple{1, false}, std::tuple{2, false}, std::tuple{2, true},
                                           std::tuple{3, false}, std::tuple{3, true}),
                         [](const auto& tested) {
                           return "q" + std::to_string(16 >> std::get<0>(tested.param)) +
                                  (std::get<1>(tested.param) ? "_half_step" : "");
                         });

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
