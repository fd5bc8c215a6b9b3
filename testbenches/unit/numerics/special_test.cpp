// Special functions against MPFR: the stated largest errors, over a sweep of binary32, and the ends of each domain.
#include "tlm/numerics/special.h"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "testbenches/unit/numerics/values.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/rotary.h"

namespace dvp::numerics::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_with_payload = std::bit_cast<float>(0xffc0'5678u);

// A multi-precision number with the few operations the oracles need.
class wide {
 public:
  explicit wide(double value = 0) {
    mpfr_init2(x_, 113);
    mpfr_set_d(x_, value, MPFR_RNDN);
  }
  ~wide() { mpfr_clear(x_); }
  wide(const wide&) = delete;
  wide& operator=(const wide&) = delete;
  mpfr_ptr get() { return x_; }

 private:
  mpfr_t x_;
};

using oracle = std::function<void(mpfr_ptr)>;  // replaces x by f(x)

void wide_sigmoid(mpfr_ptr x) {
  mpfr_neg(x, x, MPFR_RNDN);
  mpfr_exp(x, x, MPFR_RNDN);
  mpfr_add_ui(x, x, 1, MPFR_RNDN);
  mpfr_ui_div(x, 1, x, MPFR_RNDN);
}

void wide_silu(mpfr_ptr x) {
  wide original;
  mpfr_set(original.get(), x, MPFR_RNDN);
  wide_sigmoid(x);
  mpfr_mul(x, x, original.get(), MPFR_RNDN);
}

// |value - exact| in units of the last place of exact as a binary32 number.
double ulp_error(float value, mpfr_ptr exact) {
  const long exponent = mpfr_zero_p(exact) ? -126 : std::max<long>(mpfr_get_exp(exact) - 1, -126);
  wide difference(static_cast<double>(value));
  mpfr_sub(difference.get(), difference.get(), exact, MPFR_RNDN);
  return std::fabs(std::ldexp(mpfr_get_d(difference.get(), MPFR_RNDN), static_cast<int>(23 - exponent)));
}

// Largest error of f over every `stride`-th binary32 code from `low` up to `high`, both of one sign, where the exact
// result rounds to a finite number.
double largest_error(float (*f)(float), const oracle& exact, float low, float high, std::uint32_t stride) {
  const std::uint32_t first = std::min(bits(low), bits(high));
  const std::uint32_t last = std::max(bits(low), bits(high));
  double worst = 0;
  float worst_at = 0;
  for (std::uint64_t code = first; code <= last; code += stride) {
    const float x = value_of(static_cast<std::uint32_t>(code));
    wide reference(static_cast<double>(x));
    exact(reference.get());
    const float value = f(x);
    if (std::fabs(mpfr_get_d(reference.get(), MPFR_RNDN)) >= 0x1.ffffffp127) continue;
    const double error = ulp_error(value, reference.get());
    if (!(error <= worst)) {
      worst = error;
      worst_at = x;
    }
  }
  std::printf("[%14g, %14g] largest error %.4f ulp at %a\n", static_cast<double>(low), static_cast<double>(high), worst,
              static_cast<double>(worst_at));
  return worst;
}

TEST(exp, error) {
  const oracle exact = [](mpfr_ptr x) { mpfr_exp(x, x, MPFR_RNDN); };
  EXPECT_LE(largest_error(exp, exact, 0x1p-30f, 89.0f, 2999), 1.0);
  EXPECT_LE(largest_error(exp, exact, -0x1p-30f, -87.0f, 2999), 1.0);
  EXPECT_LE(largest_error(exp, exact, -87.0f, -104.5f, 37), 1.0) << "subnormal results";
  EXPECT_LE(largest_error(exp, exact, 0.0f, 0x1p-30f, 29989), 1.0);
}

TEST(exp, ends) {
  EXPECT_EQ(bits(exp(-infinity)), 0u);
  EXPECT_EQ(exp(infinity), infinity);
  EXPECT_EQ(exp(0.0f), 1.0f);
  EXPECT_EQ(exp(-0.0f), 1.0f);
  EXPECT_EQ(bits(exp(nan_with_payload)), canonical_nan_bits);
  EXPECT_LT(exp(0x1.62e42ep6f), infinity) << "the largest argument whose exponential is finite";
  EXPECT_EQ(exp(0x1.62e430p6f), infinity);
  EXPECT_EQ(exp(-std::numeric_limits<float>::max()), 0.0f);
  EXPECT_EQ(exp(std::numeric_limits<float>::max()), infinity);
  EXPECT_EQ(bits(exp(-103.97f)), 1u);
  EXPECT_EQ(bits(exp(-103.9721f)), 0u);
}

TEST(log, error) {
  const oracle exact = [](mpfr_ptr x) { mpfr_log(x, x, MPFR_RNDN); };
  EXPECT_LE(largest_error(log, exact, 0x1p-149f, std::numeric_limits<float>::max(), 9001), 1.0);
  EXPECT_LE(largest_error(log, exact, 0.5f, 2.0f, 101), 1.0);
}

TEST(log, ends) {
  EXPECT_EQ(log(0.0f), -infinity);
  EXPECT_EQ(log(-0.0f), -infinity);
  EXPECT_EQ(log(infinity), infinity);
  EXPECT_EQ(bits(log(1.0f)), 0u);
  EXPECT_EQ(bits(log(-1.0f)), canonical_nan_bits);
  EXPECT_EQ(bits(log(-infinity)), canonical_nan_bits);
  EXPECT_EQ(bits(log(nan_with_payload)), canonical_nan_bits);
}

TEST(rsqrt, error) {
  const oracle exact = [](mpfr_ptr x) { mpfr_rec_sqrt(x, x, MPFR_RNDN); };
  EXPECT_LE(largest_error(rsqrt, exact, 0x1p-149f, std::numeric_limits<float>::max(), 9001), 1.25);
  EXPECT_LE(largest_error(rsqrt, exact, 1.0f, 4.0f, 101), 1.25);
}

TEST(rsqrt, ends) {
  EXPECT_EQ(rsqrt(0.0f), infinity);
  EXPECT_EQ(rsqrt(-0.0f), infinity);
  EXPECT_EQ(bits(rsqrt(infinity)), 0u);
  EXPECT_EQ(rsqrt(4.0f), 0.5f);
  EXPECT_EQ(rsqrt(0x1p-148f), 0x1p74f);
  EXPECT_EQ(bits(rsqrt(-1.0f)), canonical_nan_bits);
  EXPECT_EQ(bits(rsqrt(nan_with_payload)), canonical_nan_bits);
}

TEST(reciprocal, error) {
  const oracle exact = [](mpfr_ptr x) { mpfr_ui_div(x, 1, x, MPFR_RNDN); };
  EXPECT_LE(largest_error(reciprocal, exact, 0x1p-127f, std::numeric_limits<float>::max(), 9001), 0.5);
}

TEST(reciprocal, ends) {
  EXPECT_EQ(reciprocal(0.0f), infinity);
  EXPECT_EQ(reciprocal(-0.0f), -infinity);
  EXPECT_EQ(bits(reciprocal(-infinity)), 0x8000'0000u);
  EXPECT_EQ(bits(reciprocal(nan_with_payload)), canonical_nan_bits);
}

TEST(sigmoid, error) {
  EXPECT_LE(largest_error(sigmoid, wide_sigmoid, 0x1p-30f, 200.0f, 2999), 2.5);
  EXPECT_LE(largest_error(sigmoid, wide_sigmoid, -0x1p-30f, -110.0f, 2999), 2.5);
}

TEST(sigmoid, ends) {
  EXPECT_EQ(sigmoid(0.0f), 0.5f);
  EXPECT_EQ(sigmoid(infinity), 1.0f);
  EXPECT_EQ(bits(sigmoid(-infinity)), 0u);
  EXPECT_EQ(bits(sigmoid(nan_with_payload)), canonical_nan_bits);
}

TEST(silu, error) {
  EXPECT_LE(largest_error(silu, wide_silu, 0x1p-149f, std::numeric_limits<float>::max(), 9001), 3.5);
  EXPECT_LE(largest_error(silu, wide_silu, -0x1p-149f, -16.0f, 9001), 3.5);
  EXPECT_LE(largest_error(silu, wide_silu, -16.0f, -32.0f, 101), 3.5);
  EXPECT_LE(largest_error(silu, wide_silu, -32.0f, -130.0f, 301), 3.5) << "down to subnormal results and zero";
}

TEST(silu, ends) {
  EXPECT_EQ(bits(silu(0.0f)), 0u);
  EXPECT_EQ(bits(silu(-0.0f)), 0x8000'0000u);
  EXPECT_EQ(silu(infinity), infinity);
  EXPECT_EQ(bits(silu(-infinity)), 0x8000'0000u);
  EXPECT_EQ(bits(silu(-std::numeric_limits<float>::max())), 0x8000'0000u);
  EXPECT_EQ(silu(std::numeric_limits<float>::max()), std::numeric_limits<float>::max());
  EXPECT_EQ(bits(silu(nan_with_payload)), canonical_nan_bits);
}

void expect_rotation(std::uint32_t position, std::uint32_t pair, std::uint32_t head_length, float base) {
  wide angle(static_cast<double>(base));
  wide power(-2.0 * pair);
  mpfr_div_ui(power.get(), power.get(), head_length, MPFR_RNDN);
  mpfr_pow(angle.get(), angle.get(), power.get(), MPFR_RNDN);
  mpfr_mul_ui(angle.get(), angle.get(), position, MPFR_RNDN);
  wide cosine;
  mpfr_sin_cos(angle.get(), cosine.get(), angle.get(), MPFR_RNDN);
  const rotation r = rotary(position, pair, head_length, base);
  const auto check = [&](float value, mpfr_ptr exact, const char* what) {
    const double reference = mpfr_get_d(exact, MPFR_RNDN);
    const double half_ulp = reference == 0 ? 0 : std::ldexp(1.0, std::ilogb(reference) - 24);
    const double allowed = half_ulp + 0x1p-34;
    ASSERT_LE(std::fabs(static_cast<double>(value) - reference), allowed)
        << what << " of position " << position << ", pair " << pair << "/" << head_length << ", base " << base;
  };
  check(r.cosine, cosine.get(), "cosine");
  check(r.sine, angle.get(), "sine");
}

TEST(rotary, error) {
  constexpr std::uint32_t seed = 99;
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  operand_source source(seed);
  for (float base : {1.0f, 10000.0f, 500000.0f, 1000000.0f}) {
    for (std::uint32_t head_length : {2u, 32u, 96u, 128u}) {
      for (std::uint32_t i = 0; i < 4000; ++i) {
        const std::uint32_t position = i < 1000 ? i : source.below(131073);
        ASSERT_NO_FATAL_FAILURE(expect_rotation(position, source.below(head_length / 2), head_length, base));
      }
      ASSERT_NO_FATAL_FAILURE(expect_rotation(131072, head_length / 2 - 1, head_length, base));
    }
  }
}

TEST(rotary, position_zero_is_the_identity) {
  const rotation r = rotary(0, 5, 64, 500000.0f);
  EXPECT_EQ(bits(r.cosine), bits(1.0f));
  EXPECT_EQ(bits(r.sine), 0u);
}

}  // namespace
}  // namespace dvp::numerics::test
