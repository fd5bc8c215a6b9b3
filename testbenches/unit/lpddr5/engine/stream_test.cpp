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
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_accesses};
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

// Blocks of rows in turn with blocks end to end from elsewhere, as a DMA reads weights and scales; every `share`-th row
// on average, all of them for 1.
struct row_shape {
  std::uint64_t row;
  std::uint64_t stride;
  std::uint32_t share;
  std::uint8_t precision;
  std::uint32_t channels;
};

std::ostream& operator<<(std::ostream& out, const row_shape& s) {
  return out << "row " << s.row << ", stride " << s.stride << ", share " << s.share << ", q" << unsigned{s.precision}
             << ", " << s.channels << " channels";
}

class blocks : public testing::TestWithParam<row_shape> {};

outcome read_blocks(const row_shape& shape, std::uint64_t stream_bytes) {
  controller_config policies;
  policies.stream_bytes = stream_bytes;
  test_memory m(policies, shape.channels, "row-bank-column-group-channel");
  random_numbers random(3);
  cycles now = 0;
  std::uint32_t place = 0;
  std::uint64_t beside = m.memory.bytes() / 2;
  std::vector<std::uint32_t> list(64);
  for (int i = 0; i < 150; ++i) {
    for (auto& each : list) {
      while (random.below(shape.share) != 0) ++place;
      each = place++;
    }
    access a;
    a.rows = 64;
    a.bytes = 64 * shape.row;
    a.stride = shape.stride;
    a.precision = shape.precision;
    a.tagged = shape.precision != 8;
    if (shape.share == 1) {
      a.address = list[0] * shape.stride;
    } else {
      a.list = list.data();
    }
    m.submit(now, a);
    now = m.memory.settle();
    access scales;
    scales.rows = 2;
    scales.bytes = 4096;
    scales.stride = 2048;
    scales.address = beside;
    m.submit(now, scales);
    now = m.memory.settle();
    beside += 4096;
  }
  const cycles end = m.memory.drain();
  const auto& figures = m.memory.figures(end);
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_accesses};
}

TEST_P(blocks, take_what_the_cycle_mode_says) {
  const outcome cycle = read_blocks(GetParam(), 0);
  const outcome stream = read_blocks(GetParam(), 256);
  EXPECT_EQ(cycle.streamed, 0U);
  EXPECT_EQ(stream.streamed, 300U);
  EXPECT_NEAR(stream.clocks / cycle.clocks, 1, 0.03);
  EXPECT_NEAR(stream.joules / cycle.joules, 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(stream, blocks,
                         testing::Values(row_shape{512, 1536, 1, 8, 1}, row_shape{512, 1536, 1, 8, 4},
                                         row_shape{512, 8960, 1, 8, 4}, row_shape{1536, 1536, 1, 8, 4},
                                         row_shape{1536, 1536, 2, 8, 4}, row_shape{1536, 1536, 6, 8, 4},
                                         row_shape{1536, 1536, 3, 4, 4}, row_shape{3584, 3584, 5, 2, 4},
                                         row_shape{256, 256, 9, 8, 1}, row_shape{1536, 1536, 40, 8, 4}));

// A copy, in blocks of 64 KiB: reads and writes take turns.
outcome copy_blocks(std::uint64_t stream_bytes, std::uint32_t channels) {
  controller_config policies;
  policies.stream_bytes = stream_bytes;
  test_memory m(policies, channels, "row-bank-column-group-channel");
  cycles now = 0;
  // Bursts of 4 KiB in cycle mode, as they come to the memory there.
  const std::uint64_t piece = stream_bytes == 0 ? 4096 : 65536;
  for (std::uint64_t at = 0; at < std::uint64_t{16} << 20; at += piece) {
    for (const bool write : {false, true}) {
      access a = test_memory::access_to(at + (write ? m.memory.bytes() / 2 : 0), piece, write);
      if (stream_bytes != 0) a.rows = 2;
      a.stride = piece / 2;
      m.submit(now, a);
      now = m.memory.settle();
    }
  }
  const cycles end = m.memory.drain();
  const auto& figures = m.memory.figures(end);
  EXPECT_EQ(figures.write_bytes, 16U << 20);
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_accesses};
}

TEST(stream, copies_in_blocks_as_the_cycle_mode_copies_in_bursts) {
  for (const std::uint32_t channels : {1U, 4U}) {
    const outcome cycle = copy_blocks(0, channels);
    const outcome stream = copy_blocks(256, channels);
    EXPECT_EQ(stream.streamed, 2U * (16 << 20) / 65536);
    EXPECT_NEAR(stream.clocks / cycle.clocks, 1, 0.03) << channels << " channels";
    EXPECT_NEAR(stream.joules / cycle.joules, 1, 0.03) << channels << " channels";
  }
}

// Without stream mode a block is its rows.
TEST(stream, serves_a_block_row_by_row_in_cycle_mode) {
  const std::vector<std::uint32_t> list = {9, 2, 3, 40};
  std::vector<std::vector<issued_command>> logs;
  for (const bool block : {false, true}) {
    test_memory m({}, 2);
    access a = test_memory::access_to(1 << 20, 4 * 320, false);
    a.rows = 4;
    a.stride = 1000;
    a.list = list.data();
    if (block) {
      m.submit(0, a);
    } else {
      for (const std::uint32_t row : list) m.read(0, (1 << 20) + 1000 * row, 320);
    }
    m.memory.drain();
    for (auto& log : m.record.log) logs.push_back(log);
  }
  ASSERT_EQ(logs.size(), 4U);
  for (std::size_t c = 0; c < 2; ++c) {
    ASSERT_EQ(logs[c].size(), logs[c + 2].size());
    for (std::size_t i = 0; i < logs[c].size(); ++i) {
      EXPECT_EQ(logs[c][i].at, logs[c + 2][i].at);
      EXPECT_EQ(logs[c][i].what, logs[c + 2][i].what);
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
  return {static_cast<double>(end), energy_of(figures, m.dev).total_j(), figures.streamed_accesses};
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
    EXPECT_EQ(m.memory.figures(ends.back()).streamed_accesses, 0U);
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
