// The commit rules: tables worked by hand, and properties over random confidences.
#include "firmware/dllm/commit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <random>
#include <vector>

#include "firmware/dllm/random.h"
#include "gtest/gtest.h"

namespace dvp::dllm {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();

TEST(commit, transfer_counts_give_the_remainder_to_the_first_steps) {
  const auto counts = [](std::uint32_t masks, std::uint32_t steps) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t s = 0; s < steps; ++s) {
      all.push_back(transfer_count(masks, steps, s));
    }
    return all;
  };
  EXPECT_EQ(counts(32, 5), (std::vector<std::uint32_t>{7, 7, 6, 6, 6}));
  EXPECT_EQ(counts(32, 32), std::vector<std::uint32_t>(32, 1));
  EXPECT_EQ(counts(3, 5), (std::vector<std::uint32_t>{1, 1, 1, 0, 0}));
  EXPECT_EQ(counts(32, 1), std::vector<std::uint32_t>{32});
}

TEST(commit, sets_of_positions) {
  EXPECT_EQ(positions(0, 64), ~position_set{0});
  EXPECT_EQ(positions(63, 1), position_set{1} << 63);
  EXPECT_EQ(positions(8, 8), 0xff00u);
  EXPECT_EQ(positions(64, 0), 0u);
}

TEST(commit, by_count) {
  const std::array<float, 6> c = {0.5f, 0.9f, 0.5f, nan, 0.9f, 0.1f};
  EXPECT_EQ(choose_by_count(c, 0b111111, 1), 0b000010u) << "a tie goes to the lower position";
  EXPECT_EQ(choose_by_count(c, 0b111111, 2), 0b010010u);
  EXPECT_EQ(choose_by_count(c, 0b111111, 3), 0b010011u);
  EXPECT_EQ(choose_by_count(c, 0b111111, 5), 0b110111u) << "NaN comes last";
  EXPECT_EQ(choose_by_count(c, 0b111111, 9), 0b111111u);
  EXPECT_EQ(choose_by_count(c, 0b101100, 1), 0b000100u) << "only candidates";
  EXPECT_EQ(choose_by_count(c, 0b111111, 0), 0u);
  EXPECT_EQ(choose_by_count(c, 0, 3), 0u);
}

TEST(commit, by_threshold) {
  const std::array<float, 5> c = {0.9f, 0.95f, 0.2f, nan, 0.9f};
  EXPECT_EQ(choose_by_threshold(c, 0b11111, 0.9f, false), 0b00010u) << "equal is not above";
  EXPECT_EQ(choose_by_threshold(c, 0b11111, 0.9f, true), 0b10011u);
  EXPECT_EQ(choose_by_threshold(c, 0b11101, 0.9f, false), 0b00001u) << "the best always, the lower of equals";
  EXPECT_EQ(choose_by_threshold(c, 0b01100, 0.9f, false), 0b00100u) << "a number beats NaN";
  EXPECT_EQ(choose_by_threshold(c, 0b01000, 0.9f, false), 0b01000u) << "even if all is NaN";
  EXPECT_EQ(choose_by_threshold(c, 0, 0.f, true), 0u);
}

// By hand: with factor 1, c_n must exceed 1 - 1 / (n + 1): 0.667 for the second, 0.75, 0.8, 0.833.
TEST(commit, by_factor) {
  const std::array<float, 6> c = {0.7f, 0.99f, 0.8125f, nan, 0.8f, 0.76f};
  EXPECT_EQ(choose_by_factor(c, 0b110111, 1.0f, false), 0b010110u) << "the fourth would need more than 0.8";
  EXPECT_EQ(choose_by_factor(c, 0b110111, 1.25f, false), 0b110110u) << "the fifth would need more than 0.792";
  EXPECT_EQ(choose_by_factor(c, 0b111111, 100.f, true), 0b110111u) << "NaN never qualifies";
  EXPECT_EQ(choose_by_factor(c, 0b000101, 0.0f, false), 0b000100u) << "the best always";
  EXPECT_EQ(choose_by_factor(c, 0b001000, 1.0f, false), 0b001000u) << "even if all is NaN";
  EXPECT_EQ(choose_by_factor(c, 0, 1.0f, false), 0u);
  const std::array<float, 3> tie = {0.75f, 0.75f, 0.75f};  // 3 * 0.25 and 4 * 0.25
  EXPECT_EQ(choose_by_factor(tie, 0b111, 0.75f, false), 0b001u) << "equal is not below";
  EXPECT_EQ(choose_by_factor(tie, 0b111, 0.75f, true), 0b011u);
  EXPECT_EQ(choose_by_factor(tie, 0b111, 1.0f, true), 0b111u);
}

// The definition, read backwards: every n is tried, the largest that fits is kept.
TEST(commit, by_factor_is_the_largest_count_that_fits) {
  const std::uint32_t seed = 20260118;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand engine(seed);
  const auto random = [&] { return static_cast<std::uint32_t>(engine() >> 4); };
  std::uint32_t several = 0;
  for (int run = 0; run < 20000; ++run) {
    std::array<float, most_block_length> c;
    const std::uint32_t length = 1 + random() % most_block_length;
    for (float& value : c) {
      value = random() % 2 == 0 ? 1 - static_cast<float>(random() % 64) / 1024 : static_cast<float>(random() % 64) / 64;
    }
    const float factor = static_cast<float>(random() % 32) / 16;
    const bool inclusive = random() % 2 == 0;
    std::vector<float> sorted(c.begin(), c.begin() + length);
    std::sort(sorted.rbegin(), sorted.rend());
    std::uint32_t most = 1;
    for (std::uint32_t n = 1; n <= length; ++n) {
      const double doubt = (n + 1.0) * (1.0 - static_cast<double>(sorted[n - 1]));  // exact: few bits
      if (doubt < static_cast<double>(factor) || (inclusive && doubt == static_cast<double>(factor))) {
        most = n;
      }
    }
    several += most > 1 ? 1 : 0;
    ASSERT_EQ(choose_by_factor(c, positions(0, length), factor, inclusive),
              choose_by_count(c, positions(0, length), most));
  }
  EXPECT_GT(several, 5000u);
}

// Decodes a block with random confidences: each step commits something and nothing twice, until nothing is left.
TEST(commit, every_step_makes_progress) {
  const std::uint32_t seed = 20260117;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand engine(seed);
  const auto random = [&] { return static_cast<std::uint32_t>(engine() >> 4); };
  for (int run = 0; run < 2000; ++run) {
    std::array<float, most_block_length> c;
    const std::uint32_t length = 1 + random() % most_block_length;
    const std::uint32_t steps = 1 + random() % length;
    const float threshold = static_cast<float>(random() % 11) / 10;
    const bool by_count = random() % 2 == 0;
    const bool inclusive = random() % 2 == 0;
    position_set masks = positions(0, length);
    for (std::uint32_t step = 0; masks != 0; ++step) {
      ASSERT_LT(step, by_count ? steps : length);
      for (float& value : c) {
        value = random() % 16 == 0 ? nan : static_cast<float>(random() % 8) / 8;
      }
      const position_set chosen = by_count ? choose_by_count(c, masks, transfer_count(length, steps, step))
                                           : choose_by_threshold(c, masks, threshold, inclusive);
      ASSERT_NE(chosen, 0u);
      ASSERT_EQ(chosen & ~masks, 0u);
      // No position left behind is better than one that was chosen by rank.
      for (std::uint32_t i = 0; i < length; ++i) {
        for (std::uint32_t j = 0; by_count && j < length; ++j) {
          if ((chosen >> i & 1) != 0 && ((masks & ~chosen) >> j & 1) != 0) {
            ASSERT_FALSE(c[j] > c[i]) << i << " was chosen before " << j;
          }
        }
        if (!by_count && (masks >> i & 1) != 0 && (c[i] > threshold || (inclusive && c[i] == threshold))) {
          ASSERT_NE(chosen >> i & 1, 0u) << i;
        }
      }
      masks &= ~chosen;
    }
  }
}

// Published test vector of splitmix64 (seed 1234567).
TEST(commit, random_generator_is_splitmix64) {
  random_generator random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
  EXPECT_EQ(random.next(), 4593380528125082431u);
}

}  // namespace
}  // namespace dvp::dllm
