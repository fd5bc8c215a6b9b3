// Conversions against a rounding written with frexp, nearbyint and ldexp: every code, every midpoint, its neighbours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/fp32.h"

namespace dvp::numerics::test {
namespace {

struct format {
  int exponent_bits;
  int fraction_bits;
  std::uint16_t nan;

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int lowest_exponent() const { return 1 - bias(); }
  std::uint16_t infinity() const { return static_cast<std::uint16_t>(((1 << exponent_bits) - 1) << fraction_bits); }

  double decode(std::uint16_t code) const {
    const int exponent = (code >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = code & ((1 << fraction_bits) - 1);
    double magnitude = 0;
    if (exponent == (1 << exponent_bits) - 1) {
      magnitude = fraction ? std::nan("") : HUGE_VAL;
    } else if (exponent == 0) {
      magnitude = std::ldexp(fraction, lowest_exponent() - fraction_bits);
    } else {
      magnitude = std::ldexp((1 << fraction_bits) + fraction, exponent - bias() - fraction_bits);
    }
    return code & 0x8000 ? -magnitude : magnitude;
  }

  std::uint16_t encode(double value) const {
    if (std::isnan(value)) return nan;
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (std::isinf(magnitude)) return sign | infinity();
    if (magnitude == 0) return sign;
    int exponent = 0;
    std::frexp(magnitude, &exponent);
    exponent = std::max(exponent - 1, lowest_exponent());
    const double quantum = std::ldexp(1.0, exponent - fraction_bits);
    const auto steps = static_cast<int>(std::nearbyint(magnitude / quantum));
    const int code = ((exponent - lowest_exponent()) << fraction_bits) + steps;
    return static_cast<std::uint16_t>(sign | std::min<int>(code, infinity()));
  }
};

constexpr format bf16{8, 7, 0x7fc0};
constexpr format fp16{5, 10, 0x7e00};

class conversions {
 public:
  conversions(const format& f, std::uint16_t (*to)(float), float (*from)(std::uint16_t))
      : f_(f), to_(to), from_(from) {}

  void every_code() const {
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const auto code = static_cast<std::uint16_t>(i);
      const double expected = f_.decode(code);
      if (std::isnan(expected)) {
        ASSERT_EQ(bits(from_(code)), canonical_nan_bits) << std::hex << code;
        ASSERT_EQ(to_(from_(code)), f_.nan) << std::hex << code;
      } else {
        ASSERT_EQ(bits(from_(code)), bits(static_cast<float>(expected))) << std::hex << code;
        ASSERT_EQ(to_(from_(code)), code) << std::hex << code;
      }
    }
  }

  void every_midpoint() const {
    for (std::uint16_t low = 0; low < f_.infinity(); ++low) {
      // The midpoint above the largest finite code lies half a step on, where infinity begins.
      const double step = f_.decode(low) - (low ? f_.decode(static_cast<std::uint16_t>(low - 1)) : 0);
      const double above =
          low + 1 == f_.infinity() ? f_.decode(low) + step : f_.decode(static_cast<std::uint16_t>(low + 1));
      const float midpoint = static_cast<float>(0.5 * (f_.decode(low) + above));
      const auto high = static_cast<std::uint16_t>(low + 1);
      const std::uint16_t even = low & 1 ? high : low;
      check(midpoint, even);
      check(std::nextafter(midpoint, 0.0f), low);
      check(std::nextafter(midpoint, HUGE_VALF), high);
    }
  }

  void many_values() const {
    for (std::uint64_t i = 0; i < 0x1'0000'0000u; i += 1021) check_bits(static_cast<std::uint32_t>(i));
  }

 private:
  void check(float magnitude, std::uint16_t expected) const {
    ASSERT_EQ(to_(magnitude), expected) << std::hexfloat << magnitude;
    ASSERT_EQ(to_(-magnitude), expected | 0x8000) << std::hexfloat << -magnitude;
    ASSERT_EQ(f_.encode(static_cast<double>(magnitude)), expected) << "oracle at " << std::hexfloat << magnitude;
  }
  void check_bits(std::uint32_t i) const {
    const float value = value_of(i);
    ASSERT_EQ(to_(value), f_.encode(static_cast<double>(value))) << std::hexfloat << value;
  }

  const format& f_;
  std::uint16_t (*to_)(float);
  float (*from_)(std::uint16_t);
};

const conversions bf16_conversions(bf16, to_bf16, from_bf16);
const conversions fp16_conversions(fp16, to_fp16, from_fp16);

TEST(bf16, every_code) {
  bf16_conversions.every_code();
}
TEST(bf16, every_midpoint_and_its_neighbours) {
  bf16_conversions.every_midpoint();
}
TEST(bf16, values_across_binary32) {
  bf16_conversions.many_values();
}
TEST(fp16, every_code) {
  fp16_conversions.every_code();
}
TEST(fp16, every_midpoint_and_its_neighbours) {
  fp16_conversions.every_midpoint();
}
TEST(fp16, values_across_binary32) {
  fp16_conversions.many_values();
}

TEST(fp32, one_nan) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bits(canonical(value_of(0xffc0'1234))), canonical_nan_bits);
  EXPECT_EQ(bits(canonical(value_of(0x7f80'0001))), canonical_nan_bits);
  EXPECT_EQ(bits(canonical(-0.0f)), 0x8000'0000u);
  EXPECT_EQ(bits(add(infinity, -infinity)), canonical_nan_bits);
  EXPECT_EQ(bits(multiply(infinity, -0.0f)), canonical_nan_bits);
  EXPECT_EQ(bits(add(1.5f, -1.5f)), 0u) << "exact cancellation is +0";
  EXPECT_EQ(bits(add(0x1p-149f, 0x1p-149f)), 2u) << "subnormals are kept";
  EXPECT_EQ(bits(multiply(0x1.8p-149f, 0.5f)), 1u);
}

}  // namespace
}  // namespace dvp::numerics::test
