// Vector-unit rows against long double arithmetic, and the bits their headers promise for special values.
#include "tlm/numerics/rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/bf16.h"

namespace dvp::numerics::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t seed = 31337;
constexpr std::uint32_t lengths[] = {1, 3, 16, 64, 65, 128, 200};

std::vector<float> random_row(operand_source& source, std::uint32_t n, float spread = 4.0f) {
  std::vector<float> row(n);
  for (float& x : row) x = source.fp32(spread);
  return row;
}

// A bf16 code within half a step of exact, allowing the binary32 work before the last rounding a relative 2^-18.
void expect_bf16(std::uint16_t code, long double exact, long double magnitude) {
  const auto value = static_cast<long double>(from_bf16(code));
  const long double allowed = std::fabs(exact) * 0x1p-8L + magnitude * 0x1p-18L + 0x1p-134L;
  ASSERT_LE(std::fabs(value - exact), allowed) << static_cast<double>(value) << " for " << static_cast<double>(exact);
}

class rows : public testing::Test {
 protected:
  operand_source source_{seed, 0.0};
};

TEST_F(rows, dequantise) {
  constexpr std::uint32_t n = 80;
  std::vector<std::int8_t> codes(n);
  for (auto& q : codes) q = source_.code();
  codes[0] = -128;
  const std::vector<std::uint16_t> scales = {0x3c00, 0x0001, 0xfbff};  // 1, 2^-24, -65504
  const float values[] = {1.0f, 0x1p-24f, -65504.0f};
  std::vector<float> d(n);
  dequantise_row(codes.data(), scales.data(), 32, d.data(), n);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(d[i], values[i / 32] * static_cast<float>(codes[i])) << i;

  const std::uint16_t infinite = 0x7c00;
  const std::int8_t zero = 0;
  dequantise_row(&zero, &infinite, 32, d.data(), 1);
  EXPECT_EQ(bits(d[0]), canonical_nan_bits);
}

TEST_F(rows, rms_norm) {
  for (std::uint32_t n : lengths) {
    const std::vector<float> x = random_row(source_, n, 3.0f);
    const std::vector<float> weight = random_row(source_, n, 1.0f);
    constexpr float epsilon = 1e-5f;
    std::vector<std::uint16_t> d(n);
    rms_norm_row(x.data(), weight.data(), epsilon, d.data(), n);
    long double sum = 0;
    for (float v : x) sum += static_cast<long double>(v) * v;
    const long double r = 1 / std::sqrt(sum / n + epsilon);
    for (std::uint32_t i = 0; i < n; ++i) {
      const long double exact = x[i] * r * weight[i];
      ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], exact, std::fabs(exact)));
    }
  }
  const std::vector<float> zeros(32, 0.0f);
  const std::vector<float> ones(32, 1.0f);
  std::vector<std::uint16_t> d(32);
  rms_norm_row(zeros.data(), ones.data(), 1e-5f, d.data(), 32);
  EXPECT_EQ(d, std::vector<std::uint16_t>(32, 0));
}

TEST_F(rows, add_in_place) {
  operand_source source(seed, 0.1);
  std::vector<float> a = random_row(source, 200);
  const std::vector<float> b = random_row(source, 200);
  std::vector<float> expected(200);
  for (std::size_t i = 0; i < 200; ++i) expected[i] = a[i] + b[i];
  add_row(a.data(), b.data(), a.data(), 200);
  for (std::size_t i = 0; i < 200; ++i) {
    ASSERT_EQ(bits(a[i]), std::isnan(expected[i]) ? 0x7fc0'0000u : bits(expected[i])) << i;
  }
}

TEST_F(rows, rope_pairs) {
  constexpr std::uint32_t head = 8;
  constexpr std::uint32_t n = 3 * head;
  const std::vector<float> x = random_row(source_, n);
  std::vector<float> cosines, sines;
  for (int p = 0; p < 4; ++p) {
    cosines.push_back(std::cos(0.7f * static_cast<float>(p)));
    sines.push_back(std::sin(0.7f * static_cast<float>(p)));
  }
  for (bool halves : {false, true}) {
    std::vector<std::uint16_t> d(n);
    rope_row(x.data(), cosines.data(), sines.data(), halves, head, d.data(), n);
    for (std::uint32_t h = 0; h < n; h += head) {
      for (std::uint32_t p = 0; p < head / 2; ++p) {
        const std::uint32_t i = h + (halves ? p : 2 * p);
        const std::uint32_t j = halves ? i + head / 2 : i + 1;
        const long double c = cosines[p];
        const long double s = sines[p];
        const long double magnitude = std::fabs(x[i]) + std::fabs(x[j]);
        ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], x[i] * c - x[j] * s, magnitude));
        ASSERT_NO_FATAL_FAILURE(expect_bf16(d[j], x[i] * s + x[j] * c, magnitude));
      }
    }
  }
}

TEST_F(rows, softmax) {
  for (std::uint32_t n : lengths) {
    for (float scale : {0.125f, 1.0f, -0.5f}) {
      const std::vector<float> x = random_row(source_, n, 20.0f);
      std::vector<std::uint16_t> d(n);
      softmax_row(x.data(), scale, d.data(), n);
      std::vector<long double> t;
      for (float v : x) t.push_back(static_cast<long double>(scale) * v);
      const long double maximum = *std::max_element(t.begin(), t.end());
      long double sum = 0;
      for (long double v : t) sum += std::exp(v - maximum);
      for (std::uint32_t i = 0; i < n; ++i) {
        const long double exact = std::exp(t[i] - maximum) / sum;
        // The rounding of scale * x and of the difference is an absolute error of the exponent.
        const long double slack = exact * (2 * std::fabs(t[i]) + std::fabs(maximum)) * 0x1p-5L;
        ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], exact, std::fabs(exact) + slack));
      }
    }
  }
}

TEST_F(rows, softmax_special_values) {
  std::vector<std::uint16_t> d(3);
  const auto run = [&](std::vector<float> x) {
    softmax_row(x.data(), 1.0f, d.data(), 3);
    return d;
  };
  const std::vector<std::uint16_t> nan(3, canonical_nan_bf16);
  EXPECT_EQ(run({0.0f, -infinity, 0.0f}), (std::vector<std::uint16_t>{0x3f00, 0, 0x3f00}));
  EXPECT_EQ(run({-infinity, -infinity, -infinity}), nan);
  EXPECT_EQ(run({1.0f, infinity, 0.0f}), nan);
  EXPECT_EQ(run({1.0f, value_of(0xffc0'0001), 0.0f}), nan);
}

TEST_F(rows, silu_multiply) {
  const std::vector<float> gate = random_row(source_, 500, 8.0f);
  const std::vector<float> up = random_row(source_, 500);
  std::vector<std::uint16_t> d(500);
  silu_multiply_row(gate.data(), up.data(), d.data(), 500);
  for (std::size_t i = 0; i < 500; ++i) {
    const long double exact = gate[i] / (1 + std::exp(-static_cast<long double>(gate[i]))) * up[i];
    ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], exact, std::fabs(exact)));
  }
}

TEST_F(rows, to_bf16_of_any_bits) {
  operand_source source(seed, 1.0);
  const std::vector<float> x = random_row(source, 1000);
  std::vector<std::uint16_t> d(1000);
  to_bf16_row(x.data(), d.data(), 1000);
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(d[i], to_bf16(x[i])) << std::hex << bits(x[i]);
}

TEST_F(rows, nothing_to_do) {
  softmax_row(nullptr, 1.0f, nullptr, 0);
  rms_norm_row(nullptr, nullptr, 1e-5f, nullptr, 0);
  to_bf16_row(nullptr, nullptr, 0);
}

}  // namespace
}  // namespace dvp::numerics::test
