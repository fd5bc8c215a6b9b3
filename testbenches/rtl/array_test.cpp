// The systolic array, beat by beat, on every built configuration and from several initial register contents.
#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "testbenches/rtl/array_bench.h"

namespace dvp::test {
namespace {

// Configuration, and the seed of the registers' initial contents and of the traffic.
class systolic_array : public ::testing::TestWithParam<std::tuple<const char*, std::uint32_t>> {
 protected:
  systolic_array() { RecordProperty("seed", static_cast<int>(seed_)); }

  // Mostly ordinary values, so that sums stay finite, or mostly corner values.
  std::uint16_t bf16(bool corners) {
    if (corners) {
      const std::uint16_t corner = bf16_corners[random_() % std::size(bf16_corners)];
      const bool special = (corner & 0x7f80) == 0x7f80;
      if (!special || random_() % 24 == 0) return corner;  // rare, or every sum would be NaN
    }
    return static_cast<std::uint16_t>((random_() & 0x807fu) | (120 + random_() % 14) << 7);
  }

  stationary_row row(std::uint32_t index, bool bank, bool active, bool corners) {
    stationary_row result{index, bank, active, std::vector<std::uint16_t>(bench_.columns())};
    for (std::uint16_t& value : result.values) value = bf16(corners);
    return result;
  }

  streamed_vector vector(bool bank, bool q8, bool corners) {
    streamed_vector result{bank, q8, std::vector<std::uint16_t>(bench_.rows()),
                           std::vector<std::uint32_t>(bench_.columns())};
    for (std::uint16_t& lane : result.lanes) {
      // The upper byte of a q8 lane is not looked at.
      if (q8 && corners) {
        const std::int8_t code = code_corners[random_() % std::size(code_corners)];
        lane = static_cast<std::uint16_t>((random_() & 0xff00u) | static_cast<std::uint8_t>(code));
      } else {
        lane = q8 ? static_cast<std::uint16_t>(random_()) : bf16(corners);
      }
    }
    for (std::uint32_t& preset : result.presets) preset = random_() % 2 == 0 ? 0 : std::uint32_t{bf16(corners)} << 16;
    return result;
  }

  void load_bank(bool bank, std::uint32_t active_rows, bool corners) {
    while (bench_.moves() < bench_.bank_free(bank)) bench_.step(nullptr, nullptr);
    for (std::uint32_t r = 0; r < bench_.rows(); ++r) {
      const stationary_row beat = row(r, bank, r < active_rows, corners);
      bench_.step(&beat, nullptr);
    }
  }

  // Random traffic for so many cycles: vectors of any format on any loaded bank, banks reloaded as early as allowed
  // with any number of active rows, gaps on both inputs, the output ready in `ready_percent` of the cycles.
  void traffic(int cycles, std::uint32_t ready_percent, bool corners) {
    std::uint32_t next_row[2] = {0, 0};  // rows() when loaded
    std::uint32_t active_rows[2] = {bench_.rows(), bench_.rows()};
    for (int n = 0; n < cycles && !HasFailure(); ++n) {
      const bool bank = random_() % 2 != 0;
      const bool loading[2] = {next_row[0] < bench_.rows(), next_row[1] < bench_.rows()};
      const bool load_bank = loading[1];
      stationary_row load_beat;
      const bool loads = (loading[0] || loading[1]) && random_() % 8 != 0 &&
                         (next_row[load_bank] > 0 || bench_.moves() >= bench_.bank_free(load_bank));
      if (loads) load_beat = row(next_row[load_bank], load_bank, next_row[load_bank] < active_rows[load_bank], corners);
      streamed_vector stream_beat;
      const bool streams = !loading[bank] && random_() % 8 != 0;
      if (streams) stream_beat = vector(bank, random_() % 2 != 0, corners);
      const bool accepted =
          bench_.step(loads ? &load_beat : nullptr, streams ? &stream_beat : nullptr, random_() % 100 < ready_percent);
      if (!accepted) continue;
      if (loads) ++next_row[load_bank];
      if (random_() % 64 == 0 && !loading[0] && !loading[1]) {
        next_row[bank] = 0;
        active_rows[bank] = random_() % (bench_.rows() + 1);
      }
    }
  }

  const std::uint32_t seed_ = std::get<1>(GetParam());
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, ::testing::Message() << "seed " << seed_};
  array_bench bench_{std::get<0>(GetParam()), seed_};
  random_words random_{seed_};
};

TEST_P(systolic_array, random_traffic) {
  traffic(6000, 100, false);
  bench_.drain();
  EXPECT_GT(bench_.results(), 2000u);
}

TEST_P(systolic_array, random_traffic_of_corner_values) {
  traffic(6000, 100, true);
  bench_.drain();
  EXPECT_GT(bench_.results(), 2000u);
  EXPECT_GT(bench_.numbers(), bench_.results() * bench_.columns() / 4) << "too many sums are NaN";
}

TEST_P(systolic_array, random_back_pressure) {
  for (const std::uint32_t percent : {90u, 50u, 10u}) traffic(4000, percent, false);
  bench_.drain();
  EXPECT_GT(bench_.results(), 2000u);
}

TEST_P(systolic_array, bank_and_format_change_with_every_vector) {
  load_bank(false, bench_.rows(), false);
  load_bank(true, bench_.rows() / 2 + 1, true);
  for (int n = 0; n < 400; ++n) {
    const streamed_vector beat = vector(n % 2 != 0, n / 2 % 2 != 0, n % 3 == 0);
    bench_.step(nullptr, &beat);
  }
  bench_.drain();
  EXPECT_EQ(bench_.results(), 400u);
}

TEST_P(systolic_array, every_number_of_active_rows) {
  for (std::uint32_t active = 0; active <= bench_.rows(); ++active) {
    load_bank(active % 2 != 0, active, active % 3 == 0);
    for (int n = 0; n < 5; ++n) {
      const streamed_vector beat = vector(active % 2 != 0, n % 2 != 0, active % 3 == 0);
      bench_.step(nullptr, &beat);
    }
  }
  bench_.drain();
}

// Zero weights against infinities, exact cancellation, -128, overflow, subnormal products and sums.
TEST_P(systolic_array, directed_corners) {
  const std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs = {
      {0x0000, 0x7f80}, {0x7f80, 0x0000}, {0x8000, 0x3f80}, {0x3f80, 0xbf80}, {0x7f7f, 0x7f7f}, {0xff7f, 0x7f7f},
      {0x0001, 0x0001}, {0x007f, 0x3f00}, {0x0080, 0x3f00}, {0x2000, 0x1f80}, {0x7fc0, 0x0000}, {0x7f80, 0xff80}};
  for (const auto& [stationary, streamed] : pairs) {
    while (bench_.moves() < bench_.bank_free(false)) bench_.step(nullptr, nullptr);
    for (std::uint32_t r = 0; r < bench_.rows(); ++r) {
      const auto sign = static_cast<std::uint16_t>(r % 2 << 15);  // neighbours cancel
      const auto value = static_cast<std::uint16_t>(stationary ^ sign);
      const stationary_row beat{r, false, true, std::vector<std::uint16_t>(bench_.columns(), value)};
      bench_.step(&beat, nullptr);
    }
    for (const std::uint32_t preset : {0x0000'0000u, 0x8000'0000u, 0x0000'0001u, 0x7f7f'ffffu, 0xff80'0000u}) {
      const streamed_vector values{false, false, std::vector<std::uint16_t>(bench_.rows(), streamed),
                                   std::vector<std::uint32_t>(bench_.columns(), preset)};
      bench_.step(nullptr, &values);
      for (const std::uint16_t code : {std::uint16_t{0x00}, std::uint16_t{0x80}, std::uint16_t{0x7f}}) {
        const streamed_vector codes{false, true, std::vector<std::uint16_t>(bench_.rows(), code),
                                    std::vector<std::uint32_t>(bench_.columns(), preset)};
        bench_.step(nullptr, &codes);
      }
    }
  }
  bench_.drain();
}

TEST_P(systolic_array, reset_in_mid_tile) {
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    traffic(static_cast<int>(2 * bench_.rows() + random_() % 60), 70, false);
    bench_.reset(1 + static_cast<int>(random_() % 2));
    // Nothing stale comes out, and all rows are inactive: sums pass through.
    const std::uint64_t before = bench_.results();
    for (std::uint32_t n = 0; n < 2 * (bench_.rows() + bench_.columns()); ++n) bench_.step(nullptr, nullptr);
    EXPECT_EQ(bench_.results(), before);
    const streamed_vector beat = vector(round % 2 != 0, true, false);
    bench_.step(nullptr, &beat);
    bench_.drain();
  }
}

INSTANTIATE_TEST_SUITE_P(configurations, systolic_array,
                         ::testing::Combine(::testing::Values("edge_8x8", "ref_16x16"),
                                            ::testing::Values(3117u, 3118u, 3119u)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param)) + "_" +
                                  std::to_string(std::get<1>(tested.param));
                         });

}  // namespace
}  // namespace dvp::test
