// The stage engine: which bytes it moves, when it is done, computed by hand, and that it works beside everything else.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"

namespace dvp::npu {
namespace {

using namespace test;
using gen::npu::counter;
using gen::npu::error_code;
using operation = gen::npu::window_operation;
namespace flag = gen::descriptor_flag;
namespace reg = gen::npu;

constexpr std::uint64_t data = npu_bench::data_base;
constexpr std::uint64_t page = 4096;

void fill(npu_bench& b, std::uint64_t from, std::uint64_t bytes, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (std::uint64_t i = 0; i < bytes; ++i) b.dram()[from + i] = static_cast<std::byte>(random());
}

bool equal_in_dram(npu_bench& b, std::uint64_t one, std::uint64_t other, std::uint64_t bytes) {
  return std::memcmp(b.dram() + one, b.dram() + other, bytes) == 0;
}

// All times: memory 100 ns after the last byte at 64 bytes per ns, one cycle per ns, bursts of 256 bytes.
TEST(stage, a_copy_takes_the_time_computed_by_hand) {
  npu_bench b;
  fill(b, data, 0x400, 1);
  b.enable();
  gen::dma_descriptor copy = stage(data + 0x8000, data, 0x400);
  copy.header.bytes_purpose = gen::purpose::weights;
  b.submit(0, copy, fence(flag::interrupt));
  b.run();
  // Fetch of 128 bytes: 102; dispatched 104. Reads go out 104, 108, 112, 116 and are complete 208 to 220; writes go
  // out then and are complete 312 to 324.
  EXPECT_EQ(b.line.rises, std::vector<std::uint64_t>{324});
  EXPECT_EQ(b.counter(counter::stage_busy), 220U);
  EXPECT_EQ(b.counter(counter::bytes_read), 128U + 0x400);
  EXPECT_EQ(b.counter(counter::bytes_written), 0x400U);
  EXPECT_EQ(b.counter(counter::descriptors), 2U);
  EXPECT_TRUE(equal_in_dram(b, data, data + 0x8000, 0x400));
  b.block.update_figures();
  EXPECT_EQ(b.figures.count_of("npu.engines.stage.busy_cycles"), 220U);
  EXPECT_EQ(b.figures.count_of("npu.engines.stage.idle_cycles"), 104U);
  EXPECT_EQ(b.figures.count_of("npu.descriptors.stage"), 1U);
  EXPECT_EQ(b.figures.count_of("dram.traffic.read.weights.raw_bytes"), 0x400U);
  EXPECT_EQ(b.figures.count_of("dram.traffic.write.weights.raw_bytes"), 0x400U);
}

TEST(stage, few_buffers_limit_it) {
  npu_config config = small_npu();
  config.dma_max_outstanding = 2;
  npu_bench b(config);
  b.enable();
  b.submit(0, stage(data + 0x8000, data, 0x1000));
  b.run();
  // 16 bursts of 4 ns, two at a time: read 104, write 104. Pair n starts at 208 n; the last burst 4 later.
  EXPECT_EQ(b.counter(counter::stage_busy), 8U * 208 + 4);
}

TEST(stage, many_buffers_reach_the_memory_bandwidth) {
  npu_config config = small_npu();
  config.dma_max_outstanding = 128;
  npu_bench b(config);
  b.enable();
  b.submit(0, stage(data + 0x4'0000, data, 0x4'0000));
  b.run();
  // Every byte passes the memory twice.
  const std::uint64_t least = 2 * 0x4'0000 / 64;
  EXPECT_GE(b.counter(counter::stage_busy), least + 100);
  EXPECT_LE(b.counter(counter::stage_busy), least + 1000);
  EXPECT_EQ(b.counter(counter::bytes_written), 0x4'0000U);
}

TEST(stage, it_overlaps_the_array_and_the_loads) {
  npu_bench b;
  b.enable();
  const auto product = gemm(gen::precision::q8, {8, 256, 32, 32}, {0, 64}, {0x1000, 32}, {0x3000, 2}, {0x4000, 1024});
  b.submit(0, product, stage(data + 0x8000, data, 0x4000), load(data + 0x1'0000, 0x8000, 0x100),
           fence(flag::interrupt, {3, 2, 1}));
  b.run();
  // Fetch 104, gemm dispatched 106 for 8 + 3 * 256 + 256 + 17 + 4 cycles, the longest of the three.
  const std::uint64_t gemm_cycles = 8 + 3 * 256 + 256 + 17 + 4;
  EXPECT_EQ(b.counter(counter::array_busy), gemm_cycles);
  EXPECT_EQ(b.line.rises, std::vector<std::uint64_t>{106 + gemm_cycles});
  EXPECT_GT(b.counter(counter::stage_busy), 0x4000U / 32);
}

TEST(stage, what_waits_for_it_finds_its_bytes_and_it_waits_for_others) {
  npu_bench b;
  fill(b, data, 0x3000, 2);
  std::ranges::fill(b.pad(), std::byte{0});
  b.enable();
  // Bytes to the scratchpad and back to memory, from there on by a stage, loaded again; then two stages in a row over
  // the same bytes, the second of which waits for nothing.
  b.submit(0, load(data, 0, 0x1000), after({1}, store(data + 0x8000, 0, 0x1000)),
           after({1}, stage(data + 0xa000, data + 0x8000, 0x1000)), after({1}, load(data + 0xa000, 0x2000, 0x1000)),
           stage(data + 0xb000, data + 0xa000, 0x1000), fence(flag::interrupt));
  b.run();
  ASSERT_EQ(b.head(0), 6U);
  EXPECT_EQ(std::memcmp(b.pad().data() + 0x2000, b.dram() + data, 0x1000), 0);
  EXPECT_TRUE(equal_in_dram(b, data + 0xb000, data, 0x1000));
}

// Sources and destinations placed anywhere, over map entries that are apart on the bus.
void random_copies(npu_config config) {
  const std::uint32_t seed = 20'261'130;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  config.window.bytes = 64 * page;
  npu_bench b(config);
  const auto map = [&](std::uint32_t entry, std::uint64_t bus, std::uint64_t first, std::uint64_t pages) {
    b.window({operation::map, entry, bus, first, pages});
    b.run();
    ASSERT_EQ(b.window_result(), reg::window_result::ok);
  };
  map(0, 0, 0, 16);
  // Destination: device pages 20 to 27, every second one a page of its own, in falling order on the bus.
  std::uint64_t bus_of[8];
  for (std::uint32_t i = 0; i < 8; ++i) {
    bus_of[i] = 0x8'0000 - i * 2 * page;
    map(1 + i, bus_of[i], 20 + i, 1);
  }
  fill(b, 0xa'0000, 0x1'0000, seed);
  b.enable();
  for (std::uint32_t i = 0; i < 60; ++i) {
    const std::uint32_t bytes = 1 + below(i % 4 == 0 ? 16'000 : 600);
    const std::uint64_t source = 0xa'0000 + below(0xc000);
    const std::uint32_t at = below(8 * static_cast<std::uint32_t>(page) - bytes);
    std::vector<std::byte> expected(b.dram(), b.dram() + npu_bench::memory_bytes);
    for (std::uint32_t n = 0; n < bytes; ++n) {
      expected[bus_of[(at + n) / page] + (at + n) % page] = expected[source + n];
    }
    b.put(0, stage(20 * page + at, source, bytes));
    std::memcpy(expected.data(), b.dram(), data);
    b.ring_doorbell(0);
    b.run();
    ASSERT_EQ(b.error(0), error_code::none);
    ASSERT_EQ(b.head(0), i + 1);
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), b.dram())) << "copy " << i << " of " << bytes << " bytes";
  }
}

TEST(stage, random_copies_move_the_right_bytes_through_the_window) {
  random_copies(small_npu());
}
TEST(stage, they_do_so_over_a_memory_that_pushes_back_and_answers_out_of_order) {
  random_copies(small_non_blocking_npu());
}
TEST(stage, they_do_so_in_blocks) {
  random_copies(small_block_npu());
}

TEST(stage, its_source_is_a_bus_address_and_its_destination_is_behind_the_window) {
  npu_config config = small_npu();
  config.window.bytes = 64 * page;
  npu_bench b(config);
  const auto start = [&] {
    b.soft_reset();
    b.window({operation::map, 0, 0, 0, 16});
    b.run();
    b.window({operation::map, 1, 0x8'0000, 20, 2});
    b.run();
    b.enable();
  };
  start();
  fill(b, 0xf'0000, page, 3);
  // No entry has the source's bytes; the window has no such address either.
  b.submit(0, stage(20 * page, 0xf'0000, page));
  b.run();
  EXPECT_EQ(b.head(0), 1U);
  EXPECT_TRUE(equal_in_dram(b, 0x8'0000, 0xf'0000, page));

  // The third page is not mapped: what comes before it is copied, the error says where.
  fill(b, 0xf'0000, 3 * page, 4);
  start();
  b.submit(0, fence(), stage(20 * page, 0xf'0000, 3 * page), fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::window_fault);
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.fault_address(0), 22 * page);
  EXPECT_TRUE(equal_in_dram(b, 0x8'0000, 0xf'0000, 2 * page));

  start();
  const std::vector<std::byte> before(b.dram() + 0x8'0000, b.dram() + 0x8'0000 + page);
  b.submit(0, stage(20 * page, npu_bench::memory_bytes - 0x100, 0x400), fence());
  b.run();
  EXPECT_TRUE(std::equal(before.begin(), before.end(), b.dram() + 0x8'0000)) << "what was read is not written any more";
  EXPECT_EQ(b.error(0), error_code::bus_error);
  EXPECT_EQ(b.error_index(0), 0U);
  EXPECT_EQ(b.fault_address(0), npu_bench::memory_bytes) << "on the bus";
  start();
  b.submit(0, stage(20 * page, 0xf'0000, page), fence());
  b.run();
  EXPECT_EQ(b.head(0), 2U);
}

void reset_at_any_time(const npu_config& config) {
  npu_bench b(config);
  fill(b, data, 0x8000, 5);
  for (std::uint64_t ns = 0; ns < 900; ns += 11) {
    SCOPED_TRACE(testing::Message() << "reset after " << ns << " ns");
    b.enable();
    b.submit(0, stage(data + 0x1'0000, data, 0x2000), stage(data + 0x2'0000, data + 0x2000, 0x1000),
             after({1}, load(data + 0x2'0000, 0, 0x1000)));
    b.run_ns(ns);
    b.soft_reset();
    EXPECT_EQ(b.read(reg::status::offset), 0U);
    if (ns % 2 == 0) b.run();
    b.enable();
    fill(b, data + 0x3'0000, 0x1000, static_cast<std::uint32_t>(ns));
    b.submit(0, stage(data + 0x3'0000, data + 0x1001, 0xfff), fence(flag::interrupt));
    b.run();
    EXPECT_EQ(b.head(0), 2U);
    EXPECT_TRUE(equal_in_dram(b, data + 0x3'0000, data + 0x1001, 0xfff));
    EXPECT_EQ(b.counter(counter::bytes_written), 0xfffU);
    b.soft_reset();
  }
  b.run();
  EXPECT_EQ(b.checker.under_way(), 0U);
  EXPECT_EQ(b.block.memory_payloads_out(), 0U);
}

TEST(stage, a_soft_reset_at_any_time_leaves_it_usable) {
  reset_at_any_time(small_npu());
}
TEST(stage, a_soft_reset_drops_answers_that_are_still_to_come) {
  reset_at_any_time(small_non_blocking_npu());
}
TEST(stage, soft_reset_drops_blocks_that_are_under_way) {
  reset_at_any_time(small_block_npu());
}

}  // namespace
}  // namespace dvp::npu
