// Precision-tagged reads: what is delivered, padded, read from the array, and how long it takes, by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "testbenches/unit/lpddr5/engine/test_memory.h"

namespace dvp::lpddr5::test {
namespace {

access tagged(std::uint64_t address, std::uint64_t elements, std::uint8_t precision) {
  access a;
  a.address = address;
  a.bytes = elements;
  a.precision = precision;
  a.tagged = true;
  return a;
}

struct outcome {
  cycles clocks;
  system_figures figures;
  energy_figures energy;
};

// Elements in row, one access of 2048 elements after another, as fast as they are accepted.
outcome read_elements(std::uint64_t elements, std::uint8_t precision, const tagged_read_config& options,
                      const std::string& order = "row-bank-column-group-channel") {
  controller_config policies = without_refresh();
  policies.tagged = options;
  test_memory m(policies, 1, order);
  cycles now = 0;
  for (std::uint64_t at = 0; at < elements; at += 2048) {
    m.submit(now, tagged(at, 2048, precision));
    now = m.memory.settle();
  }
  const cycles end = m.memory.drain();
  outcome o{end, m.memory.figures(end), {}};
  o.energy = energy_of(o.figures, m.dev);
  return o;
}

constexpr std::uint64_t many = 1 << 20;

TEST(tagged_read, counts_what_crosses_and_what_the_array_reads) {
  for (const std::uint32_t feed : {1U, 2U, 4U, 8U}) {
    for (const std::uint8_t p : {std::uint8_t{8}, std::uint8_t{4}, std::uint8_t{2}}) {
      tagged_read_config options;
      options.core_feed = feed;
      const outcome o = read_elements(many, p, options, "row-bank-column-channel");
      const auto& f = o.figures.by_precision[p];
      EXPECT_EQ(f.elements, many);
      EXPECT_EQ(f.delivered_bits, many * p);
      EXPECT_EQ(f.padding_bits, 0U);
      EXPECT_EQ(f.core_bits, many * 8);
      EXPECT_EQ(f.io_bound + f.core_bound, many * p / 256);
      EXPECT_EQ(f.core_bound != 0, feed < 8U / p);
    }
  }
}

// Elements per burst slot of 2 clocks: min(core feed * 32, 256 / p), once bank groups alternate.
TEST(tagged_read, pace_is_the_smaller_of_core_feed_and_io) {
  const device dev = lpddr5_6400();
  for (const std::uint32_t feed : {1U, 2U, 4U}) {
    for (const std::uint8_t p : {std::uint8_t{8}, std::uint8_t{4}, std::uint8_t{2}}) {
      controller_config policies = without_refresh();
      policies.tagged.core_feed = feed;
      const mapping_bits bits = standard_mapping("row-bank-column-group-quad-channel", dev.shape, 1, 32, false);
      recorder record;
      memory_system memory(dev, compile(builtin_rules(), dev.times), policies, address_mapping(bits, dev.shape, 1),
                           record, nullptr);
      cycles now = 0;
      for (std::uint64_t at = 0; at < many; at += 2048) {
        memory.submit(now, tagged(at, 2048, p));
        now = memory.settle();
      }
      const double clocks = static_cast<double>(memory.drain());
      const double per_slot = std::min<double>(feed * 32, 256.0 / p);
      EXPECT_NEAR(clocks / (many / per_slot * 2), 1, 0.02) << "feed " << feed << ", q" << int{p};
    }
  }
}

TEST(tagged_read, pads_what_does_not_fill_a_burst) {
  test_memory m(without_refresh());
  m.submit(0, tagged(0, 5, 4));
  m.submit(0, tagged(4096, 32, 2));
  m.memory.drain();
  const auto& f = m.memory.figures(1000);
  EXPECT_EQ(f.by_precision[4].delivered_bits, 20U);
  EXPECT_EQ(f.by_precision[4].padding_bits, 236U);
  EXPECT_EQ(f.by_precision[2].delivered_bits, 64U);
  EXPECT_EQ(f.by_precision[2].padding_bits, 192U);
}

TEST(tagged_read, of_q0_takes_nothing) {
  test_memory m(without_refresh());
  const auto id = m.submit(7, tagged(0, 100000, 0));
  EXPECT_EQ(m.record.answers[id].finished, 7);
  m.memory.drain();
  const auto& f = m.memory.figures(0);
  EXPECT_TRUE(m.record.log.empty());
  EXPECT_EQ(f.by_precision[0].elements, 100000U);
  EXPECT_EQ(energy_of(f, m.dev).total_j(), 0);
}

TEST(tagged_read, brings_its_scales_along_when_asked) {
  tagged_read_config options;
  options.scales = scale_place::in_burst;
  options.scale_group = 32;
  options.scale_bits = 16;
  const outcome o = read_elements(many, 8, options);
  const auto& f = o.figures.by_precision[8];
  EXPECT_EQ(f.scale_bits, many / 32 * 16);
  // 256 + 16 bits take three clocks of 128 bits instead of two.
  EXPECT_EQ(f.padding_bits, many / 32 * (3 * 128 - 256 - 16));
  EXPECT_EQ(o.figures.channels[0].busy_cycles, many / 32 * 3);
}

TEST(tagged_read, comparison_layouts_read_what_they_must) {
  tagged_read_config options;
  options.layout = data_layout::bitplane;
  for (const std::uint8_t p : {std::uint8_t{8}, std::uint8_t{4}, std::uint8_t{2}}) {
    const outcome o = read_elements(many, p, options);
    EXPECT_EQ(o.figures.by_precision[p].core_bits, many * p);
    EXPECT_EQ(o.figures.by_precision[p].padding_bits, 0U);
  }
  options.layout = data_layout::nibble;
  EXPECT_EQ(read_elements(many, 8, options).figures.by_precision[8].core_bits, many * 8);
  EXPECT_EQ(read_elements(many, 4, options).figures.by_precision[4].core_bits, many * 4);
  EXPECT_EQ(read_elements(many, 2, options).figures.by_precision[2].core_bits, many * 4);
}

// E(p) = 8 e_core + p e_down + E_xcode(p) per element; E(8) - E(4) = 4 e_down n; E(0) = 0; parts add up to the total.
TEST(tagged_read, energy_follows_the_formula) {
  device dev = lpddr5_6400();
  dev.energy.convert_fj_per_element[4] = 30;
  dev.energy.convert_fj_per_element[2] = 20;
  double movement[9] = {};
  for (const std::uint8_t p : {std::uint8_t{8}, std::uint8_t{4}, std::uint8_t{2}}) {
    test_memory m(without_refresh(), 1, "row-bank-column-channel", dev);
    cycles now = 0;
    for (std::uint64_t at = 0; at < many; at += 2048) {
      m.submit(now, tagged(at, 2048, p));
      now = m.memory.settle();
    }
    const cycles end = m.memory.drain();
    const auto e = energy_of(m.memory.figures(end), dev);
    movement[p] = e.core_read_j + e.down_read_j + e.convert_j;
    const double expected = (8.0 * static_cast<double>(dev.energy.core_read_fj_per_bit) +
                             p * static_cast<double>(dev.energy.down_read_fj_per_bit) +
                             static_cast<double>(dev.energy.convert_fj_per_element[p])) *
                            many * 1e-15;
    EXPECT_NEAR(movement[p] / expected, 1, 1e-12);
    EXPECT_NEAR(e.total_j(), e.activate_j + e.refresh_j + e.background_j + movement[p], 1e-18);
  }
  const double difference = movement[8] - movement[4] + 30e-15 * many;
  EXPECT_NEAR(difference / (4.0 * static_cast<double>(dev.energy.down_read_fj_per_bit) * many * 1e-15), 1, 1e-12);
}

}  // namespace
}  // namespace dvp::lpddr5::test
