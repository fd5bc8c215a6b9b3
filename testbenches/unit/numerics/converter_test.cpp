// The converter against an oracle that knows the contract in exact binary fractions: quotients of small integers by
// powers of two are exact in double, and nearbyint in the default mode rounds a tie to the even integer.
#include "tlm/numerics/converter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace dvp::numerics {
namespace {

double oracle_code(const view& v, int q) {
  const double lowest = -std::pow(2.0, v.precision - 1);
  const double highest = -lowest - 1;
  if (v.precision == 8) return q;
  const double step = v.precision == 4 ? 16 : 64;
  switch (v.mode) {
    case view_mode::midpoint:
    case view_mode::truncate:
      return std::floor(q / step);
    case view_mode::round:
      return std::fmin(std::fmax(std::nearbyint(q / step), lowest), highest);
    case view_mode::fitted:
      break;
  }
  if (v.precision == 2) {
    if (q > static_cast<int>(v.threshold)) return 1;
    return -q > static_cast<int>(v.threshold) ? -1 : 0;
  }
  const double clipped = std::fmin(std::fmax(q, -static_cast<double>(v.clip)), v.clip);
  return std::fmin(std::fmax(std::nearbyint(clipped / std::pow(2.0, v.shift)), lowest), highest);
}

double oracle_value(const view& v, double code) {
  if (v.precision == 8) return code;
  const double step = v.precision == 4 ? 16 : 64;
  if (v.mode == view_mode::midpoint) return code * step + step / 2;
  if (v.mode == view_mode::fitted && v.precision == 4) return code * std::pow(2.0, v.shift);
  return code * step;
}

std::vector<view> all_views() {
  std::vector<view> views;
  for (const auto precision : std::initializer_list<std::uint8_t>{8, 4, 2}) {
    for (const auto mode : {view_mode::midpoint, view_mode::round, view_mode::truncate}) {
      views.push_back({precision, mode});
    }
    for (const auto clip : std::initializer_list<std::uint8_t>{0, 1, 7, 8, 63, 64, 111, 112, 119, 120, 126, 127}) {
      for (std::uint8_t shift = 0; shift <= 7; ++shift) views.push_back({precision, view_mode::fitted, clip, shift});
    }
    for (int threshold = 0; threshold <= 127; ++threshold) {
      views.push_back({precision, view_mode::fitted, 127, 4, static_cast<std::uint8_t>(threshold)});
    }
  }
  return views;
}

std::string text_of(const view& v) {
  return "p " + std::to_string(v.precision) + " mode " + std::to_string(static_cast<int>(v.mode)) + " clip " +
         std::to_string(v.clip) + " shift " + std::to_string(v.shift) + " threshold " + std::to_string(v.threshold);
}

TEST(converter, every_code_in_every_view_is_the_contracts) {
  for (const view& v : all_views()) {
    ASSERT_TRUE(is_valid(v)) << text_of(v);
    for (int q = -128; q <= 127; ++q) {
      const double expected = oracle_code(v, q);
      const std::int8_t code = convert(v, static_cast<std::int8_t>(q));
      ASSERT_EQ(code, expected) << text_of(v) << " q " << q;
      ASSERT_EQ(array_value(v, code), oracle_value(v, expected)) << text_of(v) << " q " << q;
    }
  }
}

TEST(converter, the_pages_examples) {
  const view midpoint4{4, view_mode::midpoint}, midpoint2{2, view_mode::midpoint}, round4{4, view_mode::round};
  for (int q = -128; q <= 127; ++q) {
    const auto code = static_cast<std::int8_t>(q);
    ASSERT_EQ(array_value(midpoint4, convert(midpoint4, code)), ((q >> 4) << 4) | 8) << q;
    ASSERT_EQ(array_value(midpoint2, convert(midpoint2, code)), ((q >> 6) << 6) | 32) << q;
  }
  EXPECT_EQ(convert(round4, 8), 0);  // ties: 0.5 to 0, 1.5 to 2, -0.5 to 0, -1.5 to -2
  EXPECT_EQ(convert(round4, 24), 2);
  EXPECT_EQ(convert(round4, -8), 0);
  EXPECT_EQ(convert(round4, -24), -2);
  EXPECT_EQ(convert(round4, 127), 7);  // 8 is out of range
  EXPECT_EQ(convert(round4, -128), -8);
}

TEST(converter, descriptors_out_of_range_are_told) {
  EXPECT_TRUE(is_valid({0, view_mode::fitted, 127, 7, 127}));
  EXPECT_FALSE(is_valid({3, view_mode::midpoint}));
  EXPECT_FALSE(is_valid({16, view_mode::midpoint}));
  EXPECT_FALSE(is_valid({4, static_cast<view_mode>(4)}));
  EXPECT_FALSE(is_valid({4, view_mode::fitted, 128}));
  EXPECT_FALSE(is_valid({4, view_mode::fitted, 127, 8}));
  EXPECT_FALSE(is_valid({2, view_mode::fitted, 127, 4, 128}));
}

TEST(converter, packing_puts_element_zero_in_the_least_significant_bits) {
  std::mt19937 random(20);
  for (const view& v : all_views()) {
    if (v.mode == view_mode::fitted && v.threshold != 32 && v.threshold != 0)
      continue;  // convert() differs, not packing
    const converter all(v);
    for (std::size_t n = 0; n <= 19; ++n) {
      std::vector<std::byte> codes(n);
      for (auto& code : codes) code = static_cast<std::byte>(random());
      std::vector<bool> bits;
      for (const auto code : codes) {
        const int element = static_cast<int>(oracle_code(v, static_cast<std::int8_t>(code)));
        for (int b = 0; b < v.precision; ++b) bits.push_back(((element >> b) & 1) != 0);
      }
      while (bits.size() % 8 != 0) bits.push_back(false);
      ASSERT_EQ(delivered_bytes(n, v.precision), bits.size() / 8);
      std::vector<std::byte> delivered(bits.size() / 8 + 1, std::byte{0xa5});
      all.convert_all(codes, std::span(delivered).first(bits.size() / 8));
      for (std::size_t b = 0; b < bits.size(); ++b) {
        ASSERT_EQ(((std::to_integer<unsigned>(delivered[b / 8]) >> (b % 8)) & 1) != 0, bits[b])
            << text_of(v) << " n " << n << " bit " << b;
      }
      ASSERT_EQ(delivered.back(), std::byte{0xa5}) << "wrote past the end";
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(code_at(delivered, i, v.precision), oracle_code(v, static_cast<std::int8_t>(codes[i])));
      }
    }
  }
  EXPECT_EQ(delivered_bytes(100, 0), 0U);
  EXPECT_EQ(delivered_bytes(~std::uint64_t{0}, 8), ~std::uint64_t{0});
  std::vector<std::byte> codes(5, std::byte{7});
  converter(view{0, view_mode::midpoint}).convert_all(codes, {});
}

// Groups of 64 Gaussian values, each group scaled so that its largest magnitude becomes code 127.
double snr_db(const view& v) {
  std::mt19937_64 random(64);
  std::normal_distribution<double> gaussian;
  double signal = 0, noise = 0;
  for (int group = 0; group < 20'000; ++group) {
    double values[64];
    double most = 0;
    for (double& value : values) {
      value = gaussian(random);
      most = std::max(most, std::abs(value));
    }
    const double scale = most / 127;
    for (const double value : values) {
      const auto q = static_cast<std::int8_t>(std::nearbyint(value / scale));
      const double seen = array_value(v, convert(v, q)) * scale;
      signal += value * value;
      noise += (value - seen) * (value - seen);
    }
  }
  return 10 * std::log10(signal / noise);
}

TEST(converter, signal_to_noise_of_the_views_is_as_published) {
  const struct {
    view_mode mode;
    double q4, q2;
  } rows[] = {{view_mode::truncate, 14.7, 2.4}, {view_mode::midpoint, 20.3, 8.2}, {view_mode::round, 20.0, 7.7}};
  for (const auto& row : rows) {
    EXPECT_NEAR(snr_db({4, row.mode}), row.q4, 0.3) << "mode " << static_cast<int>(row.mode);
    EXPECT_NEAR(snr_db({2, row.mode}), row.q2, 0.3) << "mode " << static_cast<int>(row.mode);
  }
}

}  // namespace
}  // namespace dvp::numerics
