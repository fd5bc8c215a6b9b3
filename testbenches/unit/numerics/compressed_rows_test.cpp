// Rows of compressed caches and anchored networks against their formulas written out: bits where every step is exact or
// one rounding, long double where functions have errors of their own.
#include "tlm/numerics/compressed_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/rows.h"

namespace dvp::numerics::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::uint32_t seed = 271828;
constexpr std::uint32_t lengths[] = {1, 2, 7, 16, 32, 65, 200};

float one_nan(float x) {
  return std::isnan(x) ? value_of(0x7fc0'0000) : x;
}

// x rounded to so many bits of significand, a tie to the even one; exponents down to `least`, infinite from the middle
// above the largest number on.
double rounded(double x, int significand, int least, double largest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double step = std::ldexp(1.0, std::max(std::ilogb(x), least) - significand + 1);
  const double near = std::nearbyint(x / step) * step;
  return std::fabs(near) > largest ? std::copysign(infinity, x) : near;
}

double rounded_to_bf16(double x) {
  return rounded(x, 8, -126, 0x1.fep127);
}
double rounded_to_half(double x) {
  return rounded(x, 11, -14, 65504);
}

double of_bf16(std::uint16_t code) {
  return value_of(static_cast<std::uint32_t>(code) << 16);
}

double of_half(std::uint16_t code) {
  const int exponent = code >> 10 & 31;
  const double fraction = code & 0x3ff;
  const double magnitude = exponent == 0    ? std::ldexp(fraction, -24)
                           : exponent == 31 ? (fraction == 0 ? HUGE_VAL : NAN)
                                            : std::ldexp(1024 + fraction, exponent - 25);
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

// The code's value is x rounded, NaN canonical.
void expect_bf16(std::uint16_t code, double x) {
  if (std::isnan(x)) {
    ASSERT_EQ(code, 0x7fc0);
  } else {
    ASSERT_EQ(bits(static_cast<float>(of_bf16(code))), bits(static_cast<float>(rounded_to_bf16(x)))) << x;
  }
}

class compressed_rows : public testing::Test {
 protected:
  compressed_rows() { RecordProperty("seed", static_cast<int>(seed)); }

  std::vector<float> row(std::uint32_t n, float spread = 4.0f) {
    std::vector<float> x(n);
    for (float& v : x) v = source_.fp32(spread);
    return x;
  }
  std::vector<std::uint16_t> row_of_bf16(std::uint32_t n) {
    std::vector<std::uint16_t> x(n);
    for (auto& v : x) v = source_.bf16();
    return x;
  }
  std::vector<std::byte> row_of_bytes(std::size_t n) {
    std::vector<std::byte> x(n);
    for (auto& v : x) v = static_cast<std::byte>(source_.below(256));
    return x;
  }

  operand_source source_{seed, 0.04};
};

void expect_encoded(const std::vector<float>& s, const std::vector<float>* base) {
  const auto n = static_cast<std::uint32_t>(s.size());
  std::vector<float> x(s);
  for (std::uint32_t i = 0; base != nullptr && i < n; ++i) x[i] = s[i] - (*base)[i];
  float largest = 0;
  for (const float v : x) largest = std::isnan(v) ? largest : std::max(largest, std::fabs(v));
  const double scale = std::min(rounded_to_half(static_cast<double>(largest / 127.0f)), 65504.0);

  std::vector<std::int8_t> d(n, 99);
  const std::uint16_t stored = encode_row(s.data(), base != nullptr ? base->data() : nullptr, d.data(), n);
  ASSERT_EQ(of_half(stored), scale);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (std::isnan(x[i]) || scale == 0) {
      ASSERT_EQ(d[i], 0) << i;
      continue;
    }
    const double steps = std::isinf(x[i]) ? std::copysign(1e9, x[i]) : x[i] / static_cast<float>(scale);
    ASSERT_EQ(d[i], std::clamp(std::nearbyint(steps), -127.0, 127.0)) << i << ": " << x[i] << " of " << scale;
    // What the codes are for: within half a step, but for the last code where the scale was rounded down.
    const double error = std::fabs(x[i] - scale * d[i]);
    const double half = std::abs(d[i]) == 127 ? HUGE_VAL : scale * (0.5 + 0x1p-16);
    ASSERT_LE(error, half);
  }
}

TEST_F(compressed_rows, encode) {
  for (const std::uint32_t n : lengths) {
    for (const float spread : {1e-9f, 3e-6f, 0.01f, 4.0f, 1e5f, 1e7f}) {
      const std::vector<float> s = row(n, spread);
      const std::vector<float> base = row(n, spread);
      ASSERT_NO_FATAL_FAILURE(expect_encoded(s, nullptr));
      ASSERT_NO_FATAL_FAILURE(expect_encoded(s, &base));
    }
  }
}

TEST_F(compressed_rows, encode_of_moderate_numbers_leaves_half_a_step) {
  operand_source moderate(seed, 0.0);
  std::vector<float> s(64);
  for (int round = 0; round < 200; ++round) {
    for (float& v : s) v = moderate.fp32();
    std::vector<std::int8_t> d(64);
    const double scale = of_half(encode_row(s.data(), nullptr, d.data(), 64));
    int widest = 0;
    for (std::uint32_t i = 0; i < 64; ++i) {
      // The half is within 2^-11 of m / 127, so the largest loses no more than 127 * 2^-11 of a step.
      ASSERT_LE(std::fabs(s[i] - scale * d[i]), scale * (0.5 + 0x1p-12));
      widest = std::max(widest, std::abs(int{d[i]}));
    }
    ASSERT_EQ(widest, 127);
  }
}

TEST_F(compressed_rows, encode_of_special_values) {
  expect_encoded({0.0f, -0.0f, 0.0f}, nullptr);
  expect_encoded({nan, nan}, nullptr);
  expect_encoded({nan, 1.0f, -2.0f}, nullptr);
  expect_encoded({infinity, 1.0f, -65504.0f * 64}, nullptr);
  expect_encoded({-infinity, infinity, 3e38f}, nullptr);
  expect_encoded({127 * 0x1p-25f, -1e-30f}, nullptr);           // the tie that rounds to a scale of 0
  expect_encoded({127 * 0x1.8p-24f, 0x1p-24f}, nullptr);        // a subnormal scale, rounded by a third
  expect_encoded({127.0f, 0.5f, 1.5f, -2.5f, -0.5f}, nullptr);  // ties between codes
  const std::vector<float> all(3, infinity);
  expect_encoded({infinity, 1.0f, -infinity}, &all);
}

TEST_F(compressed_rows, difference) {
  for (const std::uint32_t n : lengths) {
    for (int round = 0; round < 20; ++round) {
      const auto a = row_of_bf16(n);
      const auto b = round == 0 ? a : row_of_bf16(n);
      std::vector<std::uint16_t> d(n);
      const squares sums = difference_row(a.data(), b.data(), d.data(), n);
      float moved = 0, anchored = 0;
      for (std::uint32_t i = 0; i < n; ++i) {
        const auto anchor = static_cast<float>(of_bf16(b[i]));
        const float x = static_cast<float>(of_bf16(a[i])) - anchor;
        ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], x));
        moved = moved + x * x;
        anchored = anchored + anchor * anchor;
      }
      ASSERT_EQ(bits(sums.moved), bits(one_nan(moved)));
      ASSERT_EQ(bits(sums.anchored), bits(one_nan(anchored)));
    }
  }
}

TEST_F(compressed_rows, maximum) {
  for (const std::uint32_t n : lengths) {
    std::vector<float> m(n, -infinity);
    std::vector<float> expected(m);
    for (int r = 0; r < 10; ++r) {
      const std::vector<float> s = row(n);
      maximum_row(s.data(), m.data(), n);
      for (std::uint32_t i = 0; i < n; ++i) {
        if (!std::isnan(s[i]) && s[i] > expected[i]) expected[i] = s[i];
      }
    }
    EXPECT_EQ(m, expected);
  }
}

TEST_F(compressed_rows, scale_columns) {
  for (const std::uint32_t n : lengths) {
    auto s = row_of_bf16(n);
    std::vector<std::uint16_t> scales(n), d(n);
    for (auto& v : scales) v = source_.any16();
    scale_columns_row(s.data(), scales.data(), d.data(), n);
    // 8 bits times 11 bits: binary32 holds the product, unless it is below its normal numbers.
    for (std::uint32_t i = 0; i < n; ++i) {
      const double exact = of_bf16(s[i]) * of_half(scales[i]);
      ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], static_cast<float>(exact))) << of_bf16(s[i]) << ' ' << scales[i];
    }
    scale_columns_row(s.data(), scales.data(), s.data(), n);
    EXPECT_EQ(s, d) << "in place";
  }
}

TEST_F(compressed_rows, absolute_sum) {
  for (const std::uint32_t n : lengths) {
    const auto s = row_of_bf16(n);
    float sum = 0;
    for (const std::uint16_t v : s) sum = sum + static_cast<float>(std::fabs(of_bf16(v)));
    ASSERT_EQ(bits(absolute_sum(s.data(), n)), bits(one_nan(sum)));
  }
  const std::uint16_t zeros[] = {0x8000, 0x8000};
  EXPECT_EQ(bits(absolute_sum(zeros, 2)), 0U);
}

TEST_F(compressed_rows, low_rank) {
  for (const std::uint32_t n : lengths) {
    for (const std::uint32_t rank : {0u, 1u, 2u, 5u, 16u}) {
      const auto coefficients = row_of_bf16(rank);
      const auto basis = row_of_bf16(rank * n);
      std::vector<float> codes(n);
      for (float& c : codes) c = source_.code();
      const float scale = source_.fp32(0.1f);
      for (const bool residual : {false, true}) {
        std::vector<float> x(n);
        low_rank_row(coefficients.data(), basis.data(), rank, scale, residual ? codes.data() : nullptr, x.data(), n);
        for (std::uint32_t i = 0; i < n; ++i) {
          float sum = 0;
          for (std::uint32_t k = 0; k < rank; ++k) {
            sum = sum + static_cast<float>(of_bf16(coefficients[k])) * static_cast<float>(of_bf16(basis[k * n + i]));
          }
          if (residual) sum = sum + scale * codes[i];
          ASSERT_EQ(bits(x[i]), bits(one_nan(sum))) << i << " rank " << rank;
        }
      }
    }
  }
}

// Bits from the row functions that have their own tests, and nearness to the formula in long double.
TEST_F(compressed_rows, update) {
  const auto as_bf16 = [](const std::vector<float>& x) {
    std::vector<std::uint16_t> d(x.size());
    to_bf16_row(x.data(), d.data(), static_cast<std::uint32_t>(x.size()));
    return d;
  };
  const auto as_floats = [](const std::vector<std::uint16_t>& x) {
    std::vector<float> d;
    for (const std::uint16_t code : x) d.push_back(static_cast<float>(of_bf16(code)));
    return d;
  };
  const auto activation = [](long double g, long double u) { return g / (1 + std::exp(-g)) * u; };
  for (const std::uint32_t n : lengths) {
    for (const channel_update mode :
         {channel_update{}, channel_update{true, false}, channel_update{false, true}, channel_update{true, true}}) {
      const auto gate = row(n), up = row(n);
      const auto old_gate = row_of_bf16(n), old_up = row_of_bf16(n);
      const float scale = static_cast<float>(of_half(static_cast<std::uint16_t>(source_.below(0x7c00))));
      auto gate_state = old_gate, up_state = old_up;
      std::vector<std::uint16_t> d(n);
      update_row(mode, gate.data(), up.data(), gate_state.data(), up_state.data(), scale, d.data(), n);

      auto g = gate, u = up;
      for (std::uint32_t i = 0; mode.add_state && i < n; ++i) {
        g[i] = static_cast<float>(of_bf16(old_gate[i])) + gate[i];
        u[i] = static_cast<float>(of_bf16(old_up[i])) + up[i];
      }
      ASSERT_EQ(gate_state, as_bf16(g));
      ASSERT_EQ(up_state, as_bf16(u));
      std::vector<std::uint16_t> after(n), before(n);
      const auto new_g = as_floats(gate_state), new_u = as_floats(up_state);
      const auto old_g = as_floats(old_gate), old_u = as_floats(old_up);
      silu_multiply_row(new_g.data(), new_u.data(), after.data(), n);
      if (!mode.fresh) silu_multiply_row(old_g.data(), old_u.data(), before.data(), n);
      for (std::uint32_t i = 0; i < n; ++i) {
        const float change = static_cast<float>(of_bf16(after[i])) - static_cast<float>(of_bf16(before[i]));
        ASSERT_NO_FATAL_FAILURE(expect_bf16(d[i], change * scale)) << i;
        const long double s = activation(new_g[i], new_u[i]);
        const long double old_s = mode.fresh ? 0 : activation(old_g[i], old_u[i]);
        if (!std::isfinite(static_cast<float>((std::fabs(s) + std::fabs(old_s)) * scale))) continue;
        const long double allowed = (std::fabs(s) + std::fabs(old_s)) * scale * 0x1p-7L + 0x1p-126L * (1 + scale);
        ASSERT_LE(std::fabs(of_bf16(d[i]) - (s - old_s) * scale), allowed) << i;
      }
    }
  }
}

TEST_F(compressed_rows, update_without_a_change_gives_zeros) {
  const std::vector<float> none(32, 0.0f);
  operand_source moderate(seed, 0.0);
  std::vector<std::uint16_t> gate(32), up(32), d(32, 1);
  for (auto& v : gate) v = moderate.bf16();
  for (auto& v : up) v = moderate.bf16();
  const auto old_gate = gate;
  update_row({.add_state = true}, none.data(), none.data(), gate.data(), up.data(), 0.125f, d.data(), 32);
  EXPECT_EQ(gate, old_gate);
  EXPECT_EQ(d, std::vector<std::uint16_t>(32, 0));
}

// Element i of packed codes, bit after bit.
int code_of(const std::byte* bytes, std::size_t i, std::uint32_t precision) {
  int code = 0;
  for (std::uint32_t b = 0; b < precision; ++b) {
    const std::size_t at = i * precision + b;
    const int bit = std::to_integer<int>(bytes[at / 8]) >> at % 8 & 1;
    code += (b + 1 == precision ? -bit : bit) << b;
  }
  return code;
}

TEST_F(compressed_rows, expand_codes) {
  for (const std::uint32_t n : lengths) {
    for (const std::uint32_t precision : {8u, 4u, 2u}) {
      const auto packed = row_of_bytes((n * precision + 7) / 8);
      for (const bool half_step : {false, true}) {
        std::vector<float> values(n);
        expand_codes(packed, precision, half_step, values.data(), n);
        for (std::uint32_t i = 0; i < n; ++i) {
          const int code = code_of(packed.data(), i, precision);
          const int expected = !half_step || precision == 8 ? code : precision == 4 ? code * 16 + 8 : code * 64 + 32;
          ASSERT_EQ(values[i], static_cast<float>(expected)) << i << " of " << precision << " bits";
        }
      }
    }
  }
}

TEST_F(compressed_rows, transpose_codes) {
  for (const std::uint32_t precision : {8u, 4u, 2u}) {
    for (const std::uint32_t rows : {1u, 3u, 4u, 17u}) {
      for (const std::uint32_t columns : {1u, 5u, 8u, 33u}) {
        const std::size_t s_stride = (columns * precision + 7) / 8 + 3;
        const std::size_t d_bytes = (rows * precision + 7) / 8, d_stride = d_bytes + 2;
        const auto s = row_of_bytes(rows * s_stride);
        std::vector<std::byte> d(columns * d_stride, std::byte{0xa5});
        transpose_codes(s.data(), s_stride, rows, columns, precision, d.data(), d_stride);
        for (std::uint32_t c = 0; c < columns; ++c) {
          for (std::uint32_t r = 0; r < d_bytes * 8 / precision; ++r) {
            const int expected = r < rows ? code_of(s.data() + r * s_stride, c, precision) : 0;
            ASSERT_EQ(code_of(d.data() + c * d_stride, r, precision), expected) << r << ' ' << c;
          }
          for (std::size_t b = d_bytes; b < d_stride; ++b) ASSERT_EQ(d[c * d_stride + b], std::byte{0xa5});
        }
      }
    }
  }
}

TEST_F(compressed_rows, nothing_to_do) {
  EXPECT_EQ(encode_row(nullptr, nullptr, nullptr, 0), 0);
  EXPECT_EQ(absolute_sum(nullptr, 0), 0.0f);
  low_rank_row(nullptr, nullptr, 0, 1.0f, nullptr, nullptr, 0);
  update_row({}, nullptr, nullptr, nullptr, nullptr, 1.0f, nullptr, 0);
}

}  // namespace
}  // namespace dvp::numerics::test
