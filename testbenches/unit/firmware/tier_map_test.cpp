// Tier maps and orders against std::stable_sort over the numbers as bf16.
#include "firmware/dllm/tier_map.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "firmware/dllm/channel_order.h"
#include "firmware/dllm/ranking.h"
#include "gtest/gtest.h"
#include "tlm/numerics/bf16.h"

namespace dvp {
namespace {

using dllm::basis_ranges;
using dllm::tier_counts;
using dllm::tier_shares;
using gen::precision;
using kernels::kv_reading;

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

float as_bf16(float x) {
  return numerics::from_bf16(numerics::to_bf16(x));
}

// Whether a comes before b: larger as bf16; NaN is smaller than everything.
bool before(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) {
    return !std::isnan(a) && std::isnan(b);
  }
  return as_bf16(a) > as_bf16(b);
}

std::vector<std::uint32_t> sorted(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return before(numbers[a], numbers[b]); });
  return order;
}

// Numbers with many ties, both zeros, both infinities, NaN, and pairs that only differ below bf16.
std::vector<float> numbers(std::mt19937& random, std::size_t count) {
  const float special[] = {0.0f, -0.0f,    infinite, -infinite, nan,   -nan,
                           1.0f, 1.00001f, -1e-42f,  1e-42f,    3e38f, 3.4e38f};
  std::vector<float> result(count);
  for (float& x : result) {
    const auto kind = random() % 4;
    x = kind == 0   ? special[random() % std::size(special)]
        : kind == 1 ? static_cast<float>(static_cast<int>(random() % 7) - 3)
                    : std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  }
  return result;
}

struct scratch {
  explicit scratch(std::size_t n) : keys(n), order(n), spare(n), tiers(n) {}
  dllm::tier_scratch view() { return {keys, order, spare, tiers}; }

  std::vector<std::uint16_t> keys;
  std::vector<std::uint32_t> order, spare;
  std::vector<std::uint8_t> tiers;
};

TEST(ranking, is_a_stable_sort_by_bf16) {
  std::mt19937 random(11);
  for (std::size_t count : {0u, 1u, 2u, 255u, 256u, 257u, 5000u}) {
    const std::vector<float> x = numbers(random, count);
    std::vector<std::uint16_t> keys(count);
    std::transform(x.begin(), x.end(), keys.begin(), dllm::falling_key);
    std::vector<std::uint32_t> order(count), spare(count);
    std::iota(order.begin(), order.end(), 0u);
    dllm::sort_by_key(keys, order, spare);
    EXPECT_EQ(order, sorted(x)) << count;
  }
}

TEST(ranking, orders_channels_by_activity_times_importance) {
  std::mt19937 random(12);
  const std::vector<float> activity = numbers(random, 700), importance = numbers(random, 700);
  std::vector<float> product(700);
  std::transform(activity.begin(), activity.end(), importance.begin(), product.begin(), std::multiplies<>());
  std::vector<std::uint16_t> keys(700);
  std::vector<std::uint32_t> spare(700), order(700);
  dllm::order_channels(activity, importance, keys, spare, order);
  EXPECT_EQ(order, sorted(product));
}

TEST(tiers, shares_are_rounded_and_capped_in_order) {
  EXPECT_EQ(dllm::share_out(10, {0.25f, 0.25f, 0.25f}), (tier_counts{3, 3, 3, 1}));  // 2.5 is rounded up
  EXPECT_EQ(dllm::share_out(10, {1, 0, 0}), (tier_counts{10, 0, 0, 0}));
  EXPECT_EQ(dllm::share_out(10, {0, 0, 0}), (tier_counts{0, 0, 0, 10}));
  EXPECT_EQ(dllm::share_out(3, {0.5f, 0.5f, 0}), (tier_counts{2, 1, 0, 0}));
  EXPECT_EQ(dllm::share_out(1, {0.5f, 0.5f, 0}), (tier_counts{1, 0, 0, 0}));
  EXPECT_EQ(dllm::share_out(0, {0.5f, 0.5f, 0}), (tier_counts{}));
  EXPECT_EQ(dllm::share_out(1u << 20, {0, 0, 1}), (tier_counts{0, 0, 1u << 20, 0}));
}

TEST(tiers, bases_by_position) {
  const basis_ranges none;
  EXPECT_EQ(none.basis_of(0), 0u);
  EXPECT_EQ(none.basis_of(1u << 20), 0u);
  const basis_ranges one{.first = 64};
  EXPECT_EQ(one.basis_of(63), 0u);
  EXPECT_EQ(one.end_of(0), 64u);
  EXPECT_EQ(one.basis_of(64), 1u);
  EXPECT_EQ(one.basis_of(1u << 20), 1u);
  EXPECT_EQ(one.end_of(1), basis_ranges::never);
  const basis_ranges many{.first = 64, .step = 32};
  for (std::uint32_t entry = 0; entry < 600; ++entry) {
    std::uint32_t basis = 0;  // the last one that was due at the entry
    for (std::uint32_t due = 64; due <= entry && basis < kernels::most_bases; due += 32) {
      ++basis;
    }
    EXPECT_EQ(many.basis_of(entry), basis) << entry;
    EXPECT_GT(many.end_of(basis), entry);
    EXPECT_EQ(many.basis_of(many.end_of(basis) - 1), basis);
  }
}

TEST(tiers, a_whole_reading_is_all_entries_at_q8) {
  for (const basis_ranges& ranges : {basis_ranges{}, basis_ranges{64, 0}, basis_ranges{32, 32}}) {
    for (const std::uint32_t entries : {0u, 1u, 32u, 64u, 65u, 700u}) {
      kv_reading reading;
      reading.count = 3;
      dllm::read_whole(entries, ranges, reading);
      EXPECT_TRUE(reading.whole);
      std::uint32_t entry = 0;
      for (std::uint32_t i = 0; i < reading.count; ++i) {
        const kernels::kv_segment& s = reading.segments[i];
        EXPECT_EQ(s.tier, precision::q8);
        EXPECT_EQ(s.basis, ranges.basis_of(entry));
        ASSERT_GT(s.count, 0u);
        EXPECT_EQ(ranges.basis_of(entry + s.count - 1), s.basis);
        entry += s.count;
      }
      EXPECT_EQ(entry, entries);
    }
  }
}

// Everything the definition says, from a plain sort.
void check_map(const std::vector<float>& maxima, const basis_ranges& ranges, const tier_shares& shares) {
  const std::uint32_t entries = static_cast<std::uint32_t>(maxima.size());
  const std::uint32_t plain = std::min(entries, ranges.first);
  scratch space(entries - plain);
  std::vector<std::uint32_t> list(entries, ~0u);
  kv_reading reading;
  const tier_counts counts = dllm::make_tier_map(maxima, ranges, shares, space.view(), list, reading);
  EXPECT_EQ(counts, dllm::share_out(entries - plain, shares));
  EXPECT_FALSE(reading.whole);

  const auto order = sorted({maxima.begin() + plain, maxima.end()});
  const std::uint32_t sizes[] = {counts.q8, counts.q4, counts.q2, counts.q0};
  const precision names[] = {precision::q8, precision::q4, precision::q2, precision::q0};
  std::vector<std::pair<precision, std::uint32_t>> expected;  // tier, entry
  for (std::uint32_t entry = 0; entry < plain; ++entry) {
    expected.emplace_back(precision::q8, entry);
  }
  auto next = order.begin();
  for (std::size_t tier = 0; tier < 4; ++tier) {
    std::set<std::uint32_t> members;  // ascending
    for (std::uint32_t i = 0; i < sizes[tier]; ++i) {
      members.insert(plain + *next++);
    }
    for (const std::uint32_t entry : members) {
      expected.emplace_back(names[tier], entry);
    }
  }
  std::vector<std::pair<precision, std::uint32_t>> found;
  ASSERT_LE(reading.count, kv_reading::most_segments);
  for (std::uint32_t i = 0; i < reading.count; ++i) {
    const kernels::kv_segment& s = reading.segments[i];
    ASSERT_GT(s.count, 0u);
    ASSERT_LE(found.size() + s.count, entries);
    for (std::uint32_t k = 0; k < s.count; ++k) {
      const std::uint32_t entry = list[found.size()];
      EXPECT_EQ(ranges.basis_of(entry), s.basis);
      found.emplace_back(s.tier, entry);
    }
  }
  EXPECT_EQ(found, expected);
}

TEST(tiers, a_map_is_the_sorted_entries_cut_by_the_shares) {
  const std::uint32_t seed = 20261130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 200; ++round) {
    const std::uint32_t entries = 1 + static_cast<std::uint32_t>(random() % 900);
    const basis_ranges ranges{.first = static_cast<std::uint32_t>(random() % 4) * 32,
                              .step = static_cast<std::uint32_t>(random() % 4) * 32};
    const auto share = [&] { return static_cast<float>(random() % 1001) / 3003.0f; };
    check_map(numbers(random, entries), ranges, {share(), share(), share()});
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(tiers, shares_at_their_limits_and_every_segment_there_can_be) {
  std::mt19937 random(13);
  for (const tier_shares& shares : {tier_shares{1, 0, 0}, tier_shares{0, 1, 0}, tier_shares{0, 0, 1}, tier_shares{},
                                    tier_shares{0.25f, 0.25f, 0.25f}}) {
    check_map(numbers(random, 32 * 40), {.first = 32, .step = 32}, shares);
    check_map(std::vector<float>(320, 2.0f), {.first = 64, .step = 0}, shares);  // one tie
    check_map(std::vector<float>(320, nan), {.first = 64, .step = 32}, shares);
  }
}

}  // namespace
}  // namespace dvp
