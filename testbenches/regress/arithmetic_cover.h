// Corner cases of numerics.md that an element meets, found from the operands in the host's arithmetic.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include "testbenches/regress/cover_points.h"
#include "testbenches/rtl/host_arithmetic.h"

namespace dvp::regress {

class arithmetic_cover {
 public:
  explicit arithmetic_cover(cover_points& points) {
    for (int n = 0; n < product_points; ++n) product_[n] = declared(points, "product", product_names[n]);
    for (int n = 0; n < sum_points; ++n) sum_[n] = declared(points, "sum", sum_names[n]);
  }

  // product = streamed * stationary, the stationary operand in bf16; code: the streamed element was an integer code.
  void product(float streamed, float stationary, bool code, float product) {
    const double exact = double{streamed} * double{stationary};
    const bool nan_operand = std::isnan(streamed) || std::isnan(stationary);
    const bool zero_operand = streamed == 0 || stationary == 0;
    hit(product_[0], product == 0 && zero_operand && !std::signbit(product));
    hit(product_[1], product == 0 && zero_operand && std::signbit(product));
    hit(product_[2], zero_operand && (std::isinf(streamed) || std::isinf(stationary)));
    hit(product_[3], zero_operand && nan_operand);
    hit(product_[4], code && streamed == -128);
    hit(product_[5], stationary != 0 && is_subnormal(stationary));
    hit(product_[6], streamed != 0 && is_subnormal(streamed));
    hit(product_[15], std::isinf(streamed) && std::isnan(stationary));
    hit(product_[16], std::isnan(streamed) && std::isinf(stationary));
    if (nan_operand || zero_operand) return;
    hit(product_[13], std::isinf(streamed) || std::isinf(stationary));
    if (std::isinf(streamed) || std::isinf(stationary)) return;
    hit(product_[7], is_subnormal(product) && product != 0 && double{product} == exact);
    hit(product_[8], is_subnormal(product) && product != 0 && double{product} != exact);
    hit(product_[9], product == 0);
    hit(product_[10], std::isinf(product));
    const float magnitude = std::fabs(product);
    const double below = std::fabs(exact) - double{magnitude};
    const bool tie = std::fabs(exact) < 1e-38 && std::fabs(below) == 0x1p-150;
    hit(product_[11], tie && below > 0);
    hit(product_[12], tie && below < 0);
    hit(product_[14], largest(streamed) || largest(stationary));
  }

  // sum = above + product
  void sum(float above, float product, float sum) {
    const bool nan = std::isnan(above) || std::isnan(product);
    hit(sum_[0], above == 0 && product == 0 && std::signbit(above) && std::signbit(product));
    hit(sum_[1], above == 0 && product == 0 && std::signbit(above) != std::signbit(product));
    hit(sum_[2], above != 0 && sum == 0);
    hit(sum_[3], std::isinf(above) && std::isinf(product) && std::isnan(sum));
    hit(sum_[4], std::isnan(above));
    hit(sum_[5], !nan && std::isinf(above) != std::isinf(product));
    if (nan || std::isinf(above) || std::isinf(product)) return;
    hit(sum_[6], std::isinf(sum));
    const double past = std::fabs(double{above} + double{product}) * 0x1p-128 - 1;
    hit(sum_[19], past > 0 && past <= 0.5 && std::frexp(past, &power_) == 0.5);
    const std::uint32_t a = std::bit_cast<std::uint32_t>(above);
    const std::uint32_t b = std::bit_cast<std::uint32_t>(product);
    const std::uint32_t apart = (a & 0x7fff'ffffu) - (b & 0x7fff'ffffu) + 2;
    hit(sum_[20], (a ^ b) >> 31 != 0 && apart <= 4 && apart != 2);
    if (std::isinf(sum)) return;
    hit(sum_[7], sum != 0 && is_subnormal(sum) && (!is_subnormal(above) || !is_subnormal(product)));
    hit(sum_[8], !is_subnormal(sum) && is_subnormal(above) && is_subnormal(product));
    const double wide = double{above} + double{product};
    const bool exact = (wide - double{above}) == double{product} && (wide - double{product}) == double{above};
    const double error = std::fabs(wide) - double{std::fabs(sum)};
    const bool inexact = !exact || error != 0;
    // Half the distance to the next binary32 number on the error's side.
    const float next = std::nextafter(std::fabs(sum), error > 0 ? INFINITY : 0.0f);
    const bool tie = exact && error != 0 && std::fabs(error) * 2 == std::fabs(double{next} - double{std::fabs(sum)});
    hit(sum_[9], tie && error > 0);
    hit(sum_[10], tie && error < 0);
    hit(sum_[11], inexact && !tie && error > 0);
    hit(sum_[12], inexact && !tie && error < 0);
    if (above == 0 || product == 0 || sum == 0) return;
    const float larger = std::fmax(std::fabs(above), std::fabs(product));
    const float smaller = std::fmin(std::fabs(above), std::fabs(product));
    const int up = exponent(sum) - exponent(larger);
    hit(sum_[13], up > 0);
    hit(sum_[14], up == -1);
    hit(sum_[15], up < -1);
    hit(sum_[16], up < -15);
    hit(sum_[17], exponent(larger) - exponent(smaller) > 25);
    hit(sum_[18], exponent(larger) == exponent(smaller));
  }

 private:
  static constexpr int product_points = 17;
  static constexpr const char* product_names[product_points] = {
      "plus_zero",          "minus_zero",        "zero_times_infinity",
      "zero_times_nan",     "code_minus_128",    "subnormal_stationary",
      "subnormal_streamed", "subnormal_exact",   "subnormal_rounded",
      "rounds_to_zero",     "overflows",         "tie_down_to_even",
      "tie_up_to_even",     "infinite_operand",  "largest_finite_operand",
      "infinity_times_nan", "nan_times_infinity"};
  static constexpr int sum_points = 21;
  static constexpr const char* sum_names[sum_points] = {"both_minus_zero",
                                                        "zeros_of_opposite_sign",
                                                        "exact_cancellation",
                                                        "infinity_minus_infinity",
                                                        "nan_passes",
                                                        "infinity_passes",
                                                        "overflows",
                                                        "subnormal",
                                                        "normal_of_subnormals",
                                                        "tie_down_to_even",
                                                        "tie_up_to_even",
                                                        "rounds_down",
                                                        "rounds_up",
                                                        "carry",
                                                        "loses_one_place",
                                                        "loses_many_places",
                                                        "loses_16_places",
                                                        "operand_below_rounding",
                                                        "equal_exponents",
                                                        "one_bit_past_largest",
                                                        "opposite_but_last_bits"};

  static std::uint64_t* declared(cover_points& points, const std::string& group, const char* name) {
    const std::string full = "numerics/" + group + "/" + name;
    points.declare(full);
    return &points.count(full);
  }
  static void hit(std::uint64_t* count, bool condition) { *count += condition ? 1 : 0; }
  static bool is_subnormal(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7f80'0000u) == 0; }
  static bool largest(float value) { return (std::bit_cast<std::uint32_t>(value) & 0x7fff'ffffu) == 0x7f7f'0000u; }
  static int exponent(float value) {
    return static_cast<int>(
        (std::bit_cast<std::uint32_t>(value) >> 23 & 255u) == 0 ? 1 : std::bit_cast<std::uint32_t>(value) >> 23 & 255u);
  }

  int power_ = 0;  // unused
  std::uint64_t* product_[product_points];
  std::uint64_t* sum_[sum_points];
};

}  // namespace dvp::regress
