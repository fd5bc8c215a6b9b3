// The budget against its formula, worked out here in binary64.
#include "firmware/dllm/channel_budget.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "gtest/gtest.h"

namespace dvp {
namespace {

using dllm::channel_budget;
using kernels::channel_counts;

channel_counts counts(std::uint32_t q8, std::uint32_t q4, std::uint32_t q2) {
  return {.q8 = q8, .q4 = q4, .q2 = q2};
}

void expect_counts(const channel_counts& found, const channel_counts& expected) {
  EXPECT_EQ(found.q8, expected.q8);
  EXPECT_EQ(found.q4, expected.q4);
  EXPECT_EQ(found.q2, expected.q2);
}

TEST(budget, follows_drift_and_shares) {
  channel_budget b;
  b.start({.touch_gain = 2, .touch_q8 = 0.25f, .touch_q4 = 0.5f, .smoothing = 0.5f, .drift_gain = 1}, 100);
  // q = 1/4, b = 1/8, a quarter of the channels: 7 at q8 (6.25), 13 at q4 (12.5), the rest at q2.
  expect_counts(b.decide(0, 1, 16), counts(7, 13, 5));
  EXPECT_FLOAT_EQ(b.made(0).drift, 0.25f);
  EXPECT_FLOAT_EQ(b.made(0).budget, 0.125f);
  EXPECT_FALSE(b.made(1).made) << "layers have budgets of their own";
  // q = 1 and more count as 1: b = 9/16, so all are touched.
  b.step();
  expect_counts(b.decide(0, 400, 16), counts(25, 50, 25));
  EXPECT_FLOAT_EQ(b.made(0).budget, 0.5625f);
  // The second layer's first step.
  expect_counts(b.decide(1, 1, 16), counts(7, 13, 5));
  // At an anchor the budget starts anew.
  b.anchor();
  b.step();
  expect_counts(b.decide(0, 1, 16), counts(7, 13, 5));
}

TEST(budget, what_did_not_move_touches_nothing_and_forgets) {
  channel_budget b;
  b.start({.touch_gain = 1, .touch_q8 = 1, .touch_q4 = 0, .smoothing = 0.5f, .drift_gain = 1}, 64);
  expect_counts(b.decide(0, 4, 4), counts(32, 0, 0));
  b.step();
  expect_counts(b.decide(0, 0, 4), counts(0, 0, 0));
  EXPECT_EQ(b.made(0).drift, 0);
  EXPECT_FLOAT_EQ(b.made(0).budget, 0.25f);
  b.step();
  expect_counts(b.decide(0, 0, 0), counts(0, 0, 0));
  EXPECT_FLOAT_EQ(b.made(0).budget, 0.125f);
}

TEST(budget, counts_who_comes_back) {
  channel_budget b;
  b.start({.touch_gain = 1, .touch_q8 = 0.5f, .touch_q4 = 0.5f, .smoothing = 0, .drift_gain = 1}, 100);
  const auto crossings = [&](float drift) {
    b.step();
    static_cast<void>(b.decide(0, drift * drift, 1));
    return b.made(0).crossings;
  };
  EXPECT_EQ(crossings(0.5f), 0u);  // all were touched at the anchor
  EXPECT_EQ(crossings(0.25f), 0u);
  EXPECT_EQ(crossings(0.75f), 50u);
  EXPECT_EQ(crossings(0), 0u);  // nothing moved: nobody missed anything
  EXPECT_EQ(crossings(0.75f), 0u);
  EXPECT_EQ(crossings(1), 25u);
  b.anchor();
  EXPECT_EQ(crossings(1), 0u);
}

TEST(budget, no_number_is_much) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinite = std::numeric_limits<float>::infinity();
  for (const auto& [moved, anchored] :
       {std::pair{nan, 1.0f}, {infinite, 1.0f}, {1.0f, 0.0f}, {infinite, infinite}, {1.0f, nan}, {3e38f, 1e-38f}}) {
    channel_budget b;
    b.start({.touch_gain = 1, .touch_q8 = 0.5f, .touch_q4 = 0.25f, .smoothing = 0, .drift_gain = 1}, 100);
    expect_counts(b.decide(0, moved, anchored), counts(50, 25, 25));
    EXPECT_TRUE(std::isfinite(b.made(0).drift));
  }
}

TEST(budget, keeps_to_the_formula_over_many_steps) {
  const std::uint32_t seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(0, 1);
  for (int round = 0; round < 300; ++round) {
    const std::uint32_t channels = 1 + static_cast<std::uint32_t>(random() % 20000);
    const float q8 = unit(random);
    const channel_budget::setting s{.touch_gain = 4 * unit(random),
                                    .touch_q8 = q8,
                                    .touch_q4 = (1 - q8) * unit(random),
                                    .smoothing = unit(random),
                                    .drift_gain = 2 * unit(random)};
    channel_budget b;
    b.start(s, channels);
    double budget = 0;
    for (int step = 0; step < 8; ++step) {
      const float moved = unit(random), anchored = unit(random) + 0.01f;
      b.step();
      const channel_counts c = b.decide(3, moved, anchored);
      const double drift = std::sqrt(static_cast<double>(moved) / anchored);
      budget = s.smoothing * budget + (1 - static_cast<double>(s.smoothing)) * std::min(1.0, s.drift_gain * drift);
      const double touched = std::ceil(std::min(1.0, s.touch_gain * budget) * channels);
      // Rounding moves a ceiling by one.
      EXPECT_NEAR(b.made(3).drift, drift, 1e-5);
      EXPECT_NEAR(b.made(3).budget, budget, 1e-5);
      EXPECT_NEAR(c.touched(), touched, 1.0 + 1e-5 * channels);
      EXPECT_LE(c.touched(), channels);
      EXPECT_NEAR(c.q8, std::ceil(c.touched() * static_cast<double>(s.touch_q8)), 1);
      EXPECT_NEAR(c.q4, std::min<double>(c.touched() - c.q8, std::ceil(c.touched() * static_cast<double>(s.touch_q4))),
                  1);
    }
  }
}

}  // namespace
}  // namespace dvp
