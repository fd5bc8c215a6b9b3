// The drivers' register accesses, in order, and what they promise for each code.
#include <cstring>

#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/npu_regs.h"
#include "firmware/drivers/mailbox.h"
#include "firmware/drivers/npu.h"
#include "testbenches/unit/firmware/scripted_machine.h"

namespace dvp {
namespace {

using drivers::npu_code;
using testbench::scripted_machine;

// The register map of the published specification, written out here on purpose.
constexpr std::uint64_t base = 0x2000'0000;
constexpr std::uint64_t control = base + 0x20, status = base + 0x24, irq_status = base + 0x28, irq_enable = base + 0x2c;
constexpr std::uint64_t queue = base + 0x100;
constexpr std::uint64_t tail = queue + 0x0c, head = queue + 0x10, error = queue + 0x1c, error_index = queue + 0x20;
constexpr std::uint32_t causes = 0x101;
constexpr std::uint64_t ring = 0x1'8000'0000;
constexpr std::uint32_t watchdog_us = 250;

void expect_probe(scripted_machine& m) {
  m.read(base, 0x64767001).read(base + 4, 16 | 16 << 8 | 2 << 16).read(base + 8, 1 << 20).read(base + 12, 16);
  m.read(base + 16, 512);
}

void expect_start(scripted_machine& m, std::uint32_t entries) {
  m.write(control, 2).write(queue, 0x8000'0000).write(queue + 4, 1).write(queue + 8, entries);
  m.write(queue + 0x14, 0).write(queue + 0x18, 0).write(irq_status, causes).write(irq_enable, causes).write(control, 1);
}

gen::vector_descriptor numbered(std::uint32_t number) {
  gen::vector_descriptor d;
  d.header.label = number;
  return d;
}

class npu_driver : public ::testing::Test {
 protected:
  void begin(std::uint32_t entries) {
    slots_ = reinterpret_cast<gen::vector_descriptor*>(machine_.add_memory(ring, entries * 64));
    expect_probe(machine_);
    ASSERT_EQ(npu_.probe(base), npu_code::ok);
    expect_start(machine_, entries);
    ASSERT_EQ(npu_.start(ring, entries, watchdog_us), npu_code::ok);
  }
  void submit(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(npu_.submit(numbered(npu_.next_index())), npu_code::ok);
    }
  }

  scripted_machine machine_;
  drivers::npu npu_;
  gen::vector_descriptor* slots_ = nullptr;
};

TEST_F(npu_driver, probe_reads_the_limits) {
  expect_probe(machine_);
  ASSERT_EQ(npu_.probe(base), npu_code::ok);
  EXPECT_EQ(npu_.limits().rows, 16u);
  EXPECT_EQ(npu_.limits().columns, 16u);
  EXPECT_EQ(npu_.limits().scratchpad_bytes, 1u << 20);
  EXPECT_EQ(npu_.limits().scratchpad_banks, 16u);
  EXPECT_EQ(npu_.limits().accumulator_vectors, 512u);
}

TEST_F(npu_driver, a_stranger_is_absent_after_one_read) {
  machine_.read(base, 0x64766d01);
  EXPECT_EQ(npu_.probe(base), npu_code::absent);
}

TEST_F(npu_driver, an_array_without_rows_is_absent) {
  machine_.read(base, 0x64767001).read(base + 4, 16 << 8 | 2 << 16).read(base + 8, 1 << 20).read(base + 12, 16);
  machine_.read(base + 16, 512);
  EXPECT_EQ(npu_.probe(base), npu_code::absent);
}

TEST_F(npu_driver, bad_rings_leave_the_hardware_untouched) {
  machine_.add_memory(ring, 64 * 64);
  expect_probe(machine_);
  ASSERT_EQ(npu_.probe(base), npu_code::ok);
  EXPECT_EQ(npu_.start(ring, 24, 0), npu_code::bad_argument);       // no power of two
  EXPECT_EQ(npu_.start(ring, 8, 0), npu_code::bad_argument);        // too short
  EXPECT_EQ(npu_.start(ring + 32, 16, 0), npu_code::bad_argument);  // not aligned
  EXPECT_EQ(npu_.start(ring, 128, 0), npu_code::bad_argument);      // leaves memory
  EXPECT_EQ(npu_.start(0x1000, 16, 0), npu_code::bad_argument);     // no memory
}

TEST_F(npu_driver, submission_rings_once_per_batch_and_flush_shows_the_rest) {
  begin(32);
  machine_.spends(hal::work::descriptor, 8).write(tail, 8);
  submit(10);
  machine_.spends(hal::work::descriptor, 2).write(tail, 10);
  npu_.flush();
  npu_.flush();  // nothing new: no access
  for (std::uint32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(slots_[i].header.label, i);
    // The last of each quarter interrupts.
    EXPECT_EQ(slots_[i].header.flags, i == 7 ? gen::descriptor_flag::interrupt : 0) << i;
  }
}

TEST_F(npu_driver, distances_count_back_from_the_next_descriptor) {
  begin(16);
  machine_.spends(hal::work::descriptor, 8).write(tail, 8);
  submit(9);
  EXPECT_EQ(npu_.after(8), 1);
  EXPECT_EQ(npu_.after(0), 9);
  machine_.spends(hal::work::descriptor, 8).write(tail, 16);
  submit(7);
  machine_.write(irq_status, causes).read(status, 1).read(head, 4);
  submit(4);  // slots 0 to 3 are free; then the ring is full again
  machine_.spends(hal::work::descriptor, 4).write(tail, 20);
  machine_.write(irq_status, causes).read(status, 1).read(head, 8);
  submit(4);
  EXPECT_EQ(npu_.after(8), 16);
  EXPECT_EQ(npu_.after(7), 0) << "its slot was used again, so it is complete";
}

TEST_F(npu_driver, a_full_ring_sleeps_until_a_quarter_is_free) {
  begin(16);
  machine_.spends(hal::work::descriptor, 8).write(tail, 8).spends(hal::work::descriptor, 8).write(tail, 16);
  submit(16);
  machine_.write(irq_status, causes).read(status, 1).read(head, 2).waits(true);
  machine_.write(irq_status, causes).read(status, 1).read(head, 5);
  submit(1);
  EXPECT_EQ(slots_[0].header.label, 16u) << "the slot of descriptor 0";
  EXPECT_EQ(slots_[1].header.label, 1u);
  EXPECT_EQ(machine_.last_timeout_us, watchdog_us);
}

TEST_F(npu_driver, waiting_flushes_and_looks_before_it_sleeps) {
  begin(16);
  submit(3);
  machine_.spends(hal::work::descriptor, 3).write(tail, 3);
  machine_.write(irq_status, causes).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
}

TEST_F(npu_driver, waiting_for_the_future_is_refused_without_access) {
  begin(16);
  submit(3);
  EXPECT_EQ(npu_.wait_complete(3), npu_code::bad_argument);
}

TEST_F(npu_driver, a_timeout_with_progress_goes_on_and_one_without_ends) {
  begin(16);
  submit(3);
  machine_.spends(hal::work::descriptor, 3).write(tail, 3);
  machine_.write(irq_status, causes).read(status, 1).read(head, 0).waits(false).read(head, 1);
  machine_.write(irq_status, causes).read(status, 1).read(head, 1).waits(false).read(head, 1).read(status, 1);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::timeout);
  machine_.write(control, 2);
  npu_.reset();
}

TEST_F(npu_driver, a_queue_that_stops_with_the_timeout_is_stopped) {
  begin(16);
  submit(3);
  machine_.spends(hal::work::descriptor, 3).write(tail, 3);
  machine_.write(irq_status, causes).read(status, 1).read(head, 1).waits(false).read(head, 1).read(status, 2);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::stopped);
}

TEST_F(npu_driver, a_stopped_queue_tells_code_and_index) {
  begin(16);
  submit(3);
  machine_.spends(hal::work::descriptor, 3).write(tail, 3);
  machine_.write(irq_status, causes).read(status, 1).read(head, 0).waits(true);
  machine_.write(irq_status, causes).read(status, 2).read(head, 1);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::stopped);
  machine_.read(error, 3).read(error_index, 1);
  const drivers::npu_fault fault = npu_.fault();
  EXPECT_EQ(fault.error, gen::npu::error_code::scratchpad_range);
  EXPECT_EQ(fault.index, 1u);
}

TEST(mailbox_driver, accesses_in_order) {
  constexpr std::uint64_t mailbox_base = 0x1000'0000;
  scripted_machine m;
  drivers::mailbox mailbox;
  m.read(mailbox_base, 0x64767001);
  EXPECT_EQ(mailbox.probe(mailbox_base), drivers::mailbox_code::absent);
  m.read(mailbox_base, 0x64766d01).read(mailbox_base + 4, 0x8000'0040).read(mailbox_base + 8, 3);
  m.write(mailbox_base + 12, 0).write(mailbox_base + 12, 1).write(mailbox_base + 16, 7);
  ASSERT_EQ(mailbox.probe(mailbox_base), drivers::mailbox_code::ok);
  EXPECT_EQ(mailbox.request_address(), 0x3'8000'0040u);
  mailbox.post_progress();
  mailbox.post_progress();
  mailbox.finish(gen::result_code::npu_timeout);
}

}  // namespace
}  // namespace dvp
