// Runs served in one step against the same runs burst by burst: bandwidth and energy within 2 %.
#include <gtest/gtest.h>

#include <cmath>

#include "testbenches/unit/lpddr5/engine/test_memory.h"

namespace dvp::lpddr5::test {
namespace {

struct outcome {
  double clocks;
  double joules;
  std::uint64_t streamed;
};

// Runs of `run` bytes one after another, every fourth from somewhere else, and some small random reads between.
outcome read_runs(std::uint64_t stream_bytes, std::uint64_t run, std::uint8_t precision, refresh_policy refresh,
                  std::uint32_t channels, const std::string& order) {
  controller_config policies;
  policies.refresh = refresh;
  policies.stream_bytes = stream_bytes;
  policies.tagged.core_feed = 4;
  test_memory m(policies, channels, order);
  random_numbers random(7);
  cycles now = 0;
  std::uint64_t address = 0;
  for (std::uint64_t done = 0; done < std::uint64_t{16} << 20; done += run) {
    if (random.below(4) == 0) address = random.below(m.memory.bytes() / run - 1) * run;
    access a;
    a.address = address % (m.memory.bytes() - run);
    a.bytes = run;
    a.precision = precision;
    a.tagged = precision != 8;
    m.submit(now, a);
    now = m.memory.settle();
    address += run;
    for (std::uint64_t small = random.below(4); small != 0; --small) {
      m.read(now, random.below(m.memory.bytes() / 32) * 32);
      now = m.memory.settle();
    }
  }
  const cycles end = m.memory.drain();
  const auto& figures = m.memory.figures(end);
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_reads};
}

TEST(stream, agrees_with_the_cycle_mode_within_two_percent) {
  for (const char* order : {"row-bank-column-group-channel", "row-column-bank-channel", "row-bank-column-channel"}) {
    for (const refresh_policy refresh : {refresh_policy::none, refresh_policy::all_bank, refresh_policy::per_bank}) {
      for (const std::uint8_t p : {std::uint8_t{8}, std::uint8_t{4}}) {
        const std::uint32_t channels = p == 8 ? 1 : 4;
        const std::uint64_t run = std::uint64_t{256} << 10;
        const outcome cycle = read_runs(0, run, p, refresh, channels, order);
        const outcome stream = read_runs(1 << 14, run, p, refresh, channels, order);
        const std::string what =
            std::string(order) + ", refresh " + std::to_string(static_cast<int>(refresh)) + ", q" + std::to_string(p);
        EXPECT_EQ(cycle.streamed, 0U);
        EXPECT_EQ(stream.streamed, (16U << 20) / run);
        EXPECT_NEAR(stream.clocks / cycle.clocks, 1, 0.02) << what;
        EXPECT_NEAR(stream.joules / cycle.joules, 1, 0.02) << what;
      }
    }
  }
}

// Rows of 512 bytes at a stride, cut at 4 KiB as a DMA does, in turn with sequential reads of another area.
outcome read_rows(std::uint64_t stream_bytes, std::uint64_t row, std::uint64_t stride, std::uint32_t channels) {
  controller_config policies;
  policies.stream_bytes = stream_bytes;
  test_memory m(policies, channels, "row-bank-column-group-channel");
  cycles now = 0;
  const auto read = [&](std::uint64_t address, std::uint64_t bytes) {
    m.read(now, address, bytes);
    now = m.memory.settle();
  };
  std::uint64_t beside = m.memory.bytes() / 2;
  for (std::uint64_t i = 0; i < 6000; ++i) {
    const std::uint64_t address = i * stride;
    const std::uint64_t first = std::min(row, 4096 - address % 4096);
    read(address, first);
    if (first < row) read(address + first, row - first);
    if (i % 64 != 0) continue;
    for (int scales = 0; scales < 4; ++scales, beside += 512) read(beside, 512);
  }
  const cycles end = m.memory.drain();
  const auto& figures = m.memory.figures(end);
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_bytes};
}

TEST(stream, agrees_with_the_cycle_mode_for_rows_at_a_stride) {
  for (const std::uint32_t channels : {1U, 4U}) {
    for (const std::uint64_t stride : {std::uint64_t{1536}, std::uint64_t{8960}}) {
      const outcome cycle = read_rows(0, 512, stride, channels);
      const outcome stream = read_rows(256, 512, stride, channels);
      const std::string what = std::to_string(channels) + " channels, stride " + std::to_string(stride);
      EXPECT_EQ(cycle.streamed, 0U);
      EXPECT_GT(stream.streamed, 6000 * 512 * 8 / 10) << what;
      EXPECT_NEAR(stream.clocks / cycle.clocks, 1, 0.03) << what;
      EXPECT_NEAR(stream.joules / cycle.joules, 1, 0.03) << what;
    }
  }
}

// Sequential 4 KiB reads with refreshes put off and brought forward, by two ranks.
outcome read_in_a_row(std::uint64_t stream_bytes) {
  controller_config policies;
  policies.refresh_postpone = 8;
  policies.refresh_pull_in = 4;
  policies.stream_bytes = stream_bytes;
  device d = lpddr5_6400();
  d.shape.ranks = 2;
  test_memory m(policies, 2, "row-bank-column-group-channel", d);
  cycles now = 0;
  for (std::uint64_t address = 0; address < std::uint64_t{32} << 20; address += 4096) {
    m.read(now, address, 4096);
    now = m.memory.settle();
  }
  const cycles end = m.memory.drain();
  const auto& figures = m.memory.figures(end);
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_reads};
}

TEST(stream, knows_refreshes_that_are_put_off) {
  const outcome cycle = read_in_a_row(0);
  const outcome stream = read_in_a_row(1024);
  // All but the first eight rows of both channels.
  EXPECT_EQ(stream.streamed, (32U << 20) / 4096 - 7);
  EXPECT_NEAR(stream.clocks / cycle.clocks, 1, 0.02);
  EXPECT_NEAR(stream.joules / cycle.joules, 1, 0.02);
}

// A long read from somewhere else opens rows of its own: it is simulated.
TEST(stream, serves_only_what_continues) {
  std::vector<cycles> ends;
  for (const std::uint64_t stream_bytes : {0U, 1024U}) {
    controller_config policies;
    policies.stream_bytes = stream_bytes;
    test_memory m(policies, 4);
    random_numbers random(11);
    cycles now = 0;
    for (int i = 0; i < 2000; ++i) {
      m.read(now, random.below(m.memory.bytes() / 4096) * 4096, 4096);
      now = m.memory.settle();
    }
    ends.push_back(m.memory.drain());
    EXPECT_EQ(m.memory.figures(ends.back()).streamed_reads, 0U);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

// Gaps between runs are time without requests; nothing of the bus's time is lost.
TEST(stream, accounts_for_every_clock_of_the_bus) {
  controller_config policies;
  policies.stream_bytes = 4096;
  test_memory m(policies);
  cycles now = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    m.read(now, i * 65536, 65536);
    now = m.memory.settle() + 5000;
  }
  const cycles end = m.memory.drain();
  const auto& c = m.memory.figures(end).channels[0];
  std::uint64_t clocks = c.busy_cycles;
  for (const auto idle : c.idle_cycles) clocks += idle;
  EXPECT_NEAR(static_cast<double>(clocks) / static_cast<double>(end), 1, 0.002);
}

}  // namespace
}  // namespace dvp::lpddr5::test
