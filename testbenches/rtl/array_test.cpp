// The systolic array, beat by beat, on every built configuration and from several initial register contents.
#include <gtest/gtest.h>

#include <optional>
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

  // A format with or without half step, as one number.
  static constexpr std::uint32_t kinds = 6;
  static streamed_beat tagged(bool bank, std::uint32_t kind) {
    constexpr stream_format formats[kinds] = {stream_format::bf16, stream_format::q8, stream_format::q4,
                                              stream_format::q4,   stream_format::q2, stream_format::q2};
    return {bank, formats[kind], kind == 3 || kind == 5, streamed_beat::part::whole, {}};
  }

  // One beat, filled with 1 to as many vectors as it holds. A bf16 beat for byte lanes is the low half.
  streamed_beat beat(bool bank, std::uint32_t kind, bool corners) {
    streamed_beat result = tagged(bank, kind);
    const std::uint32_t most = array::vectors_per_beat(bench_.shape(), result.format);
    const bool bf16_format = result.format == stream_format::bf16;
    if (bf16_format && bench_.shape().lane_bits == 8) result.which = streamed_beat::part::low;
    result.vectors.resize(1 + random_() % most);
    for (streamed_vector& vector : result.vectors) {
      vector.elements.resize(bench_.rows());
      vector.presets.resize(bench_.columns());
      for (std::uint16_t& element : vector.elements) {
        const std::int8_t code = code_corners[random_() % std::size(code_corners)];
        element = bf16_format ? bf16(corners)
                  : corners   ? static_cast<std::uint8_t>(code)
                              : static_cast<std::uint16_t>(random_());
      }
      for (std::uint32_t& preset : vector.presets) {
        preset = random_() % 2 == 0 ? 0 : std::uint32_t{bf16(corners)} << 16;
      }
    }
    return result;
  }

  // The whole of a beat, ready always.
  void send(streamed_beat whole) {
    bench_.step(nullptr, &whole);
    if (whole.which != streamed_beat::part::low) return;
    whole.which = streamed_beat::part::high;
    bench_.step(nullptr, &whole);
  }

  bool two_banks() const { return bench_.shape().banks == 2; }

  void load_row(const stationary_row& beat) {
    while (bench_.moves() < bench_.row_free(beat.bank, beat.row)) bench_.step(nullptr, nullptr);
    bench_.step(&beat, nullptr);
  }

  void load_bank(bool bank, std::uint32_t active_rows, bool corners) {
    for (std::uint32_t r = 0; r < bench_.rows(); ++r) load_row(row(r, bank, r < active_rows, corners));
  }

  // Random traffic for so many cycles: beats of any format on any loaded bank, banks reloaded as early as allowed with
  // any number of active rows, gaps on both inputs, the output ready in `ready_percent` of the cycles. Between the two
  // beats of a bf16 vector others may come.
  void traffic(int cycles, std::uint32_t ready_percent, bool corners) {
    std::uint32_t next_row[2] = {0, two_banks() ? 0 : bench_.rows()};  // rows() when loaded
    std::uint32_t active_rows[2] = {bench_.rows(), bench_.rows()};
    std::optional<streamed_beat> half;  // the high bytes to come
    for (int n = 0; n < cycles && !HasFailure(); ++n) {
      const bool bank = two_banks() && random_() % 2 != 0;
      const bool loading[2] = {next_row[0] < bench_.rows(), next_row[1] < bench_.rows()};
      const bool load_bank = loading[1];
      stationary_row load_beat;
      const bool loads = (loading[0] || loading[1]) && random_() % 8 != 0 &&
                         bench_.moves() >= bench_.row_free(load_bank, next_row[load_bank]);
      if (loads) load_beat = row(next_row[load_bank], load_bank, next_row[load_bank] < active_rows[load_bank], corners);
      streamed_beat stream_beat;
      const bool streams = !loading[bank] && random_() % 8 != 0;
      if (streams) {
        stream_beat = beat(bank, random_() % kinds, corners);
        if (half.has_value() && (stream_beat.format == stream_format::bf16 || random_() % 2 == 0)) {
          stream_beat = *half;
          stream_beat.bank = bank;
        }
      }
      const bool accepted =
          bench_.step(loads ? &load_beat : nullptr, streams ? &stream_beat : nullptr, random_() % 100 < ready_percent);
      if (!accepted) continue;
      if (streams && stream_beat.format == stream_format::bf16) {
        half.reset();
        if (stream_beat.which == streamed_beat::part::low) {
          half = stream_beat;
          half->which = streamed_beat::part::high;
        }
      }
      if (loads) ++next_row[load_bank];
      if (random_() % 64 == 0 && !loading[0] && !loading[1]) {
        next_row[bank] = 0;
        active_rows[bank] = random_() % (bench_.rows() + 1);
      }
    }
    if (half.has_value()) {
      while (!HasFailure() && !bench_.step(nullptr, &*half)) {
      }
    }
  }

  const std::uint32_t seed_ = std::get<1>(GetParam());
  const ::testing::ScopedTrace trace_{__FILE__, __LINE__, ::testing::Message() << "seed " << seed_};
  array_bench bench_{std::get<0>(GetParam()), seed_};
  random_words random_{seed_};
};

TEST_P(systolic_array, random_traffic) {
  traffic(4000, 100, false);
  bench_.drain();
  EXPECT_GT(bench_.results(), 800u);
}

TEST_P(systolic_array, random_traffic_of_corner_values) {
  traffic(4000, 100, true);
  bench_.drain();
  EXPECT_GT(bench_.results(), 800u);
  EXPECT_GT(bench_.numbers(), bench_.results() * bench_.columns() / 4) << "too many sums are NaN";
}

TEST_P(systolic_array, random_back_pressure) {
  for (const std::uint32_t percent : {90u, 50u, 10u}) traffic(3000, percent, false);
  bench_.drain();
  EXPECT_GT(bench_.results(), 800u);
}

// Every pair of formats after one another, bank and fill changing too.
TEST_P(systolic_array, format_changes_with_every_beat) {
  load_bank(false, bench_.rows(), false);
  if (two_banks()) load_bank(true, bench_.rows() / 2 + 1, true);
  std::uint32_t n = 0;
  for (std::uint32_t first = 0; first < kinds; ++first) {
    for (std::uint32_t second = 0; second < kinds; ++second, ++n) {
      send(beat(two_banks() && n % 2 != 0, first, n % 3 == 0));
      send(beat(two_banks() && n / 2 % 2 != 0, second, n % 5 == 0));
    }
  }
  bench_.drain();
  EXPECT_GE(bench_.results(), 2 * kinds * kinds);
}

// Every code of every narrow format in every slot.
TEST_P(systolic_array, every_code_in_every_slot) {
  load_bank(false, bench_.rows(), false);
  for (std::uint32_t kind = 1; kind < kinds; ++kind) {
    const std::uint32_t codes = 1u << numerics::element_bits(tagged(false, kind).format);
    for (std::uint32_t first = 0; first < codes; first += bench_.rows()) {
      streamed_beat full = beat(false, kind, false);
      full.vectors.resize(array::vectors_per_beat(bench_.shape(), full.format), full.vectors[0]);
      for (std::size_t j = 0; j < full.vectors.size(); ++j) {
        for (std::uint32_t r = 0; r < bench_.rows(); ++r) {
          full.vectors[j].elements[r] = static_cast<std::uint16_t>((first + r + j) % codes);
        }
      }
      send(full);
    }
  }
  bench_.drain();
}

// Row r is loaded in the last cycle before the vector gets there, and once more in the first after it has passed.
TEST_P(systolic_array, rows_loaded_just_in_time) {
  const std::uint32_t pace = bench_.shape().adder_stages;
  for (int round = 0; round < 20; ++round) {
    std::vector<stationary_row> loads;
    for (std::uint32_t r = 0; r < bench_.rows(); ++r) loads.push_back(row(r, false, r % 5 != 4, round % 2 != 0));
    while (bench_.moves() < bench_.row_free(false, 0)) bench_.step(nullptr, nullptr);
    for (const stationary_row& load : loads) bench_.announce(load);
    const streamed_beat vector = beat(false, 1 + static_cast<std::uint32_t>(round) % (kinds - 1), false);
    for (std::uint32_t n = 0; n <= (bench_.rows() - 1) * pace; ++n) {
      bench_.step(n % pace == 0 ? &loads[n / pace] : nullptr, n == 1 ? &vector : nullptr);
    }
  }
  bench_.drain();
  EXPECT_GE(bench_.results(), 20u);
}

TEST_P(systolic_array, every_number_of_active_rows) {
  for (std::uint32_t active = 0; active <= bench_.rows(); ++active) {
    const bool bank = two_banks() && active % 2 != 0;
    load_bank(bank, active, active % 3 == 0);
    for (std::uint32_t n = 0; n < kinds; ++n) send(beat(bank, n, active % 3 == 0));
  }
  bench_.drain();
}

// Zero weights against infinities, exact cancellation, -128, overflow, subnormal products and sums.
TEST_P(systolic_array, directed_corners) {
  const std::vector<std::pair<std::uint16_t, std::uint16_t>> pairs = {
      {0x0000, 0x7f80}, {0x7f80, 0x0000}, {0x8000, 0x3f80}, {0x3f80, 0xbf80}, {0x7f7f, 0x7f7f}, {0xff7f, 0x7f7f},
      {0x0001, 0x0001}, {0x007f, 0x3f00}, {0x0080, 0x3f00}, {0x2000, 0x1f80}, {0x7fc0, 0x0000}, {0x7f80, 0xff80}};
  for (const auto& [stationary, streamed] : pairs) {
    for (std::uint32_t r = 0; r < bench_.rows(); ++r) {
      const auto sign = static_cast<std::uint16_t>(r % 2 << 15);  // neighbours cancel
      const auto value = static_cast<std::uint16_t>(stationary ^ sign);
      load_row({r, false, true, std::vector<std::uint16_t>(bench_.columns(), value)});
    }
    for (const std::uint32_t preset : {0x0000'0000u, 0x8000'0000u, 0x0000'0001u, 0x7f7f'ffffu, 0xff80'0000u}) {
      for (std::uint32_t kind = 0; kind < kinds; ++kind) {
        for (const std::uint16_t code : {std::uint16_t{0x00}, std::uint16_t{0x80}, std::uint16_t{0x7f}}) {
          streamed_beat values = beat(false, kind, false);
          for (streamed_vector& vector : values.vectors) {
            const std::uint16_t element = kind == 0 ? streamed : code;
            vector.elements.assign(bench_.rows(), element);
            vector.presets.assign(bench_.columns(), preset);
          }
          send(values);
        }
      }
    }
  }
  bench_.drain();
}

TEST_P(systolic_array, reset_in_mid_tile) {
  for (int round = 0; round < 30 && !HasFailure(); ++round) {
    traffic(static_cast<int>(2 * bench_.rows() + random_() % 60), 70, false);
    // In every other round the first half of a bf16 vector is lost as well.
    const streamed_beat lost = beat(false, 0, false);
    if (round % 2 == 0 && lost.which == streamed_beat::part::low) bench_.step(nullptr, &lost);
    bench_.reset(1 + static_cast<int>(random_() % 2));
    // Nothing stale comes out, and all rows are inactive: sums pass through.
    const std::uint64_t before = bench_.results();
    for (std::uint32_t n = 0; n < 2 * (bench_.rows() * bench_.shape().adder_stages + bench_.columns()); ++n) {
      bench_.step(nullptr, nullptr);
    }
    EXPECT_EQ(bench_.results(), before);
    send(beat(two_banks() && round % 2 != 0, static_cast<std::uint32_t>(round) % kinds, false));
    bench_.drain();
  }
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<const char*, std::uint32_t>>& tested) {
  return std::string(std::get<0>(tested.param)) + "_" + std::to_string(std::get<1>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(configurations, systolic_array,
                         ::testing::Combine(::testing::Values("edge_8x8", "ref_16x16", "tiny_4x4", "lean_8x4",
                                                              "block_32x32"),
                                            ::testing::Values(3117u, 3118u, 3119u)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(large, systolic_array, ::testing::Combine(::testing::Values("nano"), ::testing::Values(3117u)),
                         name_of);

}  // namespace
}  // namespace dvp::test
