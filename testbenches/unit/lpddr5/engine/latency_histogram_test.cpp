#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "testbenches/unit/lpddr5/engine/test_memory.h"

namespace dvp::lpddr5::test {
namespace {

TEST(latency_histogram, is_exact_below_1024_and_within_one_part_in_64_above) {
  random_numbers random(1);
  latency_histogram histogram;
  std::vector<cycles> all;
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<cycles>(random.below(std::uint64_t{1} << (1 + random.below(24))));
    histogram.add(value);
    all.push_back(value);
  }
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (const cycles value : all) sum += static_cast<double>(value);
  EXPECT_EQ(histogram.count(), all.size());
  EXPECT_EQ(histogram.min(), all.front());
  EXPECT_EQ(histogram.max(), all.back());
  EXPECT_NEAR(histogram.mean(), sum / static_cast<double>(all.size()), 1e-6);
  for (const double p : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(static_cast<double>(all.size()) * p / 100)) - 1;
    const cycles expected = all[rank];
    const cycles got = histogram.percentile(p);
    EXPECT_GE(got, expected) << p;
    EXPECT_LE(got, expected < 1024 ? expected : expected + expected / 64) << p;
  }
  std::uint64_t counted = 0;
  for (const auto& bucket : histogram.buckets()) {
    EXPECT_LT(bucket.from, bucket.to);
    const auto in = std::count_if(all.begin(), all.end(), [&](cycles v) { return v >= bucket.from && v < bucket.to; });
    EXPECT_EQ(bucket.count, static_cast<std::uint64_t>(in)) << bucket.from;
    counted += bucket.count;
  }
  EXPECT_EQ(counted, all.size());
}

TEST(latency_histogram, is_zero_when_empty) {
  EXPECT_EQ(latency_histogram{}.percentile(50), 0);
  EXPECT_EQ(latency_histogram{}.mean(), 0);
}

}  // namespace
}  // namespace dvp::lpddr5::test
