// The block as software sees it when something goes wrong: one queue stops with code and index, everything else goes
// on, and a soft reset makes all of it usable again.
#include <gtest/gtest.h>

#include <stdexcept>

#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"

namespace dvp::npu {
namespace {

using namespace test;
using gen::npu::counter;
using gen::npu::error_code;
namespace flag = gen::descriptor_flag;
namespace reg = gen::npu;

constexpr std::uint64_t data = npu_bench::data_base;
constexpr std::uint64_t nowhere = npu_bench::memory_bytes;

gen::vector_descriptor add(std::uint32_t at) {
  return vector(gen::vector_function::add, 1, 64, {at, 256}, {at + 0x100, 256}, {at + 0x200, 256});
}

void expect_usable(npu_bench& b) {
  b.soft_reset();
  b.enable();
  EXPECT_EQ(b.read(reg::irq_status::offset), 0U);
  EXPECT_EQ(b.read(reg::status::offset), 0U);
  EXPECT_EQ(b.counter(counter::cycles), 0U);
  for (std::uint32_t q = 0; q < 2; ++q) {
    EXPECT_EQ(b.error(q), error_code::none);
    EXPECT_EQ(b.head(q), 0U);
  }
  b.set_dram<std::uint32_t>(data + 0x4000, 0x12345678);
  for (std::uint32_t q = 0; q < 2; ++q) {
    b.submit(q, load(data + 0x4000, 0x8000 + 4 * q, 4), after({1}, store(data + 0x5000 + 4 * q, 0x8000 + 4 * q, 4)),
             add(0x1000 + 0x1000 * q), fence(flag::interrupt));
  }
  b.run();
  for (std::uint32_t q = 0; q < 2; ++q) {
    EXPECT_EQ(b.head(q), 4U);
    EXPECT_EQ(b.dram_at<std::uint32_t>(data + 0x5000 + 4 * q), 0x12345678U);
  }
  EXPECT_EQ(b.read(reg::irq_status::offset), 3U);
}

TEST(errors, a_bad_descriptor_stops_its_queue_and_not_the_other) {
  npu_bench b;
  b.enable();
  gen::vector_descriptor bad = with(add(0x1000), flag::record | flag::interrupt);
  bad.rows = 0;
  b.submit(0, load(data, 0, 0x1000), add(0x2000), after({2}, add(0x3000)), bad, add(0x4000), fence(flag::interrupt));
  b.submit(1, load(data, 0x8000, 0x1000), add(0x5000), fence(flag::interrupt));
  b.run();
  EXPECT_EQ(b.error(0), error_code::bad_operand);
  EXPECT_EQ(b.error_index(0), 3U);
  EXPECT_EQ(b.head(0), 3U) << "earlier descriptors complete, the failing one does not";
  EXPECT_EQ(b.record(0, 3).error, static_cast<std::uint16_t>(error_code::bad_operand));
  EXPECT_EQ(b.error(1), error_code::none);
  EXPECT_EQ(b.head(1), 3U);
  EXPECT_EQ(b.counter(counter::descriptors), 6U);
  EXPECT_EQ(b.read(reg::status::offset), reg::status::error.mask());
  EXPECT_EQ(b.read(reg::irq_status::offset), 1U << reg::irq_status::error.lsb | 2U);
  b.ring_doorbell(0);
  b.set_tail(0, 8);
  b.ring_doorbell(0);
  b.run();
  EXPECT_EQ(b.error(0), error_code::bad_operand) << "the first error stays";
  EXPECT_EQ(b.head(0), 3U);
  expect_usable(b);
}

TEST(errors, every_code_a_descriptor_can_cause) {
  npu_bench b;
  gen::vector_descriptor opcode = add(0);
  opcode.header.op = static_cast<gen::opcode>(10);
  gen::dma_descriptor outside = load(data, 0xfff0, 32);
  struct row {
    descriptor_view bad;
    error_code code;
  };
  const row rows[] = {{descriptor_view(opcode), error_code::bad_opcode},
                      {descriptor_view(outside), error_code::scratchpad_range},
                      {descriptor_view(fence(0, {2})), error_code::bad_dependency},
                      {descriptor_view(load(nowhere - 8, 0, 16)), error_code::bus_error},
                      {descriptor_view(store(nowhere, 0, 16)), error_code::bus_error}};
  for (const row& each : rows) {
    b.soft_reset();
    b.enable();
    b.submit(0, add(0x1000), each.bad, add(0x2000), fence());
    b.run();
    EXPECT_EQ(b.error(0), each.code);
    EXPECT_EQ(b.error_index(0), 1U);
    EXPECT_EQ(b.head(0), 1U);
  }
  expect_usable(b);
}

// A fence without a check byte in a ring that has them; the other queue's ring has none.
TEST(errors, a_ring_with_check_bytes_stops_at_one_that_is_wrong) {
  npu_bench b;
  b.enable();
  b.write(reg::queue::size::at(0), reg::queue::size::check.set(b.read(reg::queue::size::at(0)), 1));
  gen::vector_descriptor right = fence(flag::record);
  std::uint8_t all = 0xff;
  for (const std::byte byte : descriptor_view(right).bytes) all ^= std::to_integer<std::uint8_t>(byte);
  right.header.check = all;
  b.submit(0, right, fence(flag::record), right);
  b.submit(1, fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::bad_check);
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.head(0), 1U);
  EXPECT_EQ(b.record(0, 1).error, static_cast<std::uint16_t>(error_code::bad_check));
  EXPECT_EQ(b.error(1), error_code::none);
  EXPECT_EQ(b.head(1), 1U);
  expect_usable(b);
}

// The array's FIFO holds work that depends on a load which fails after a later descriptor has stopped the queue.
TEST(errors, dropped_work_does_not_hold_up_the_other_queue) {
  npu_bench b;
  b.enable();
  gen::vector_descriptor bad = add(0x1000);
  bad.rows = 0;
  gen::dma_descriptor slow = load(data, 0, 64);
  slow.rows = 200;
  slow.dram_stride = static_cast<std::uint32_t>((nowhere - data) / 199) + 1;
  const auto product = gemm(gen::precision::bf16, {8, 8, 8, 8}, {0x4000, 16}, {0x5000, 16}, {}, {0x6000, 32});
  b.submit(0, slow, after({1}, product), after({2}, add(0x7000)), bad);
  b.submit(1, product, add(0x8000), fence(flag::interrupt));
  b.run();
  EXPECT_EQ(b.error(0), error_code::bad_operand);
  EXPECT_EQ(b.error_index(0), 3U);
  EXPECT_EQ(b.head(0), 0U);
  EXPECT_EQ(b.head(1), 3U);
  EXPECT_EQ(b.read(reg::status::offset), reg::status::error.mask());
  expect_usable(b);
}

TEST(errors, doorbells_that_are_refused) {
  npu_bench b;
  const auto refused = [&](const char* what, std::uint32_t index) {
    b.run();
    EXPECT_EQ(b.error(0), error_code::bad_queue) << what;
    EXPECT_EQ(b.error_index(0), index) << what;
    EXPECT_EQ(b.read(reg::queue::tail::at(0)), index) << what;
    EXPECT_EQ(b.error(1), error_code::none) << what;
    b.soft_reset();
    b.enable();
  };
  b.write(reg::queue::size::at(0), 64);
  b.write(reg::queue::tail::at(0), 0);
  EXPECT_EQ(b.error(0), error_code::none) << "a write that does not move the tail is no doorbell";
  b.write(reg::queue::tail::at(0), 1);
  refused("disabled", 0);
  b.write(reg::queue::tail::at(0), npu_bench::ring_entries + 1);
  refused("longer than the ring", 0);
  b.submit(0, fence(), fence());
  b.run();
  b.write(reg::queue::tail::at(0), 1);
  refused("backwards", 2);
  for (const std::uint32_t entries : {0U, 48U}) {
    b.write(reg::queue::size::at(0), entries);
    b.write(reg::queue::tail::at(0), 1);
    refused("not a power of two", 0);
  }
  b.write(reg::queue::base_lo::at(0), 0x20);
  b.write(reg::queue::tail::at(0), 1);
  refused("ring not aligned", 0);
  b.submit(0, fence());
  b.submit(0, fence());
  b.write(reg::queue::tail::at(0), 100);
  refused("longer than the ring, with work fetched", 2);
  expect_usable(b);
}

TEST(errors, rings_outside_the_memory) {
  npu_bench b;
  b.enable();
  b.write(reg::queue::base_hi::at(0), 1);
  b.write(reg::queue::tail::at(0), 3);
  b.run();
  EXPECT_EQ(b.error(0), error_code::bus_error);
  EXPECT_EQ(b.error_index(0), 0U);
  b.soft_reset();
  b.enable();
  b.write(reg::queue::completion_hi::at(0), 1);
  b.submit(0, fence(), fence(flag::record), fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::bus_error);
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.head(0), 1U);
  expect_usable(b);
}

TEST(errors, an_access_that_fails_tells_its_address) {
  npu_bench b;
  const std::uint64_t spoiled = data + 0x1230;
  struct row {
    descriptor_view bad;
    error_code code;
    std::uint64_t address;
  };
  // Bursts end at multiples of 256 bytes, a stage's at those of its source, 0x1200, and of its destination, when the
  // source is at 0x1210; the address is that of the burst.
  const row rows[] = {
      {descriptor_view(load(data + 0x1100, 0, 0x200)), error_code::memory_error, data + 0x1200},
      {descriptor_view(load(nowhere - 8, 0, 16)), error_code::bus_error, nowhere},
      {descriptor_view(store(nowhere + 0x1'0000'0010, 0, 16)), error_code::bus_error, nowhere + 0x1'0000'0010},
      {descriptor_view(stage(data + 0x8000, data + 0x1010, 0x400)), error_code::memory_error, data + 0x1210},
      {descriptor_view(stage(nowhere - 0x100, data + 0x4000, 0x200)), error_code::bus_error, nowhere}};
  for (const row& each : rows) {
    b.enable();
    b.spoil(spoiled);
    b.submit(0, fence(), each.bad, fence());
    b.run();
    EXPECT_EQ(b.error(0), each.code);
    EXPECT_EQ(b.error_index(0), 1U);
    EXPECT_EQ(b.fault_address(0), each.address);
    EXPECT_EQ(b.fault_address(1), 0U);
    EXPECT_EQ(b.head(0), 1U);
    b.soft_reset();
    EXPECT_EQ(b.fault_address(0), 0U);
  }
  b.enable();
  b.spoil(npu_bench::ring_base(0) + 64);
  b.submit(0, fence(), fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::memory_error) << "a fetch that cannot be corrected";
  EXPECT_EQ(b.fault_address(0), npu_bench::ring_base(0));
  b.soft_reset();
  b.enable();
  b.spoil(npu_bench::record_base(0) + 16);
  b.submit(0, fence(), fence(flag::record));
  b.run();
  EXPECT_EQ(b.error(0), error_code::memory_error) << "a record";
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.fault_address(0), npu_bench::record_base(0) + 16);
  b.spoil(~std::uint64_t{0});
  expect_usable(b);
}

TEST(errors, of_several_accesses_under_way_that_fail_the_first_tells_its_address) {
  npu_bench b(small_non_blocking_npu());
  const std::uint64_t outside = b.memory->bytes();
  b.enable();
  b.submit(0, load(outside - 0x100, 0, 0x1000), fence());
  b.submit(1, stage(data, outside + 0x3000, 0x1000), fence());
  b.run();
  EXPECT_EQ(b.error(0), error_code::bus_error);
  EXPECT_EQ(b.fault_address(0), outside);
  EXPECT_EQ(b.error(1), error_code::bus_error);
  EXPECT_EQ(b.fault_address(1), outside + 0x3000);
  expect_usable(b);
}

void reset_at_any_time(const npu_config& config) {
  npu_bench b(config);
  for (std::uint64_t ns = 0; ns < 900; ns += 13) {
    SCOPED_TRACE(testing::Message() << "reset after " << ns << " ns");
    b.enable();
    const auto product = gemm(gen::precision::q8, {8, 64, 32, 32}, {0, 64}, {0x1000, 32}, {0x2000, 2}, {0x3000, 256});
    for (std::uint32_t q = 0; q < 2; ++q) {
      b.submit(q, load(data, 0, 0x800), with(product, flag::record, {1}), with(add(0x3000), flag::interrupt),
               after({1, 2}, store(data + 0x6000, 0x3000, 0x400)), load(data, 0x4000, 0x2000), add(0x3800),
               stage(data + 0x7000, data, 0x800),
               sample(2, 64, {0x8000, 256}, 0x9000, 0x9100, flag::first_chunk | flag::last_chunk), fence());
    }
    b.run_ns(ns);
    b.soft_reset();
    EXPECT_EQ(b.read(reg::status::offset), 0U);
    b.run_ns(1);
    EXPECT_FALSE(b.block.interrupt.read());
    if (ns % 2 == 0) b.run();
    expect_usable(b);
    b.soft_reset();
  }
  b.run();
  EXPECT_EQ(b.checker.under_way(), 0U);
  EXPECT_EQ(b.block.memory_payloads_out(), 0U);
}

TEST(errors, soft_reset_at_any_time_leaves_the_block_usable) {
  reset_at_any_time(small_npu());
}
TEST(errors, soft_reset_drops_answers_that_are_still_to_come) {
  reset_at_any_time(small_non_blocking_npu());
}
TEST(errors, soft_reset_drops_blocks_that_are_still_to_come) {
  reset_at_any_time(small_block_npu());
}

class disagreeing_seat final : public array::array_seat {
 public:
  std::string_view name() const override { return "disagreeing"; }
  std::uint64_t run(const array::array_job& job) override {
    if (job.id == 1) throw std::runtime_error("job 1: row 2 column 3 differ");
    return 10;
  }
};

TEST(errors, an_array_that_disagrees_stops_the_simulation_with_its_message) {
  disagreeing_seat seat;
  npu_bench b(small_npu(), &seat);
  b.enable();
  const auto product = gemm(gen::precision::bf16, {8, 8, 8, 8}, {0x4000, 16}, {0x5000, 16}, {}, {0x6000, 32});
  b.submit(0, product, product, fence(flag::interrupt));
  b.run();
  EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
  EXPECT_EQ(b.error(0), error_code::lockstep);
  EXPECT_EQ(b.error_index(0), 1U);
  EXPECT_EQ(b.head(0), 1U);
  EXPECT_EQ(b.block.failure(), "job 1: row 2 column 3 differ");
}

TEST(errors, a_configuration_that_cannot_be_is_refused_at_elaboration) {
  dvp::test::throw_on_fatal();
  npu_config config = small_npu();
  config.scratchpad_banks = 0;
  try {
    npu_bench b(config);
    ADD_FAILURE() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "npu: npu: scratchpad_banks is 0, it must be 1 to 64");
  }
}

}  // namespace
}  // namespace dvp::npu
