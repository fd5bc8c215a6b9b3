// The drivers' register accesses, in order, and what they promise for each code.
#include <bit>
#include <cstring>
#include <deque>
#include <functional>

#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/npu_regs.h"
#include "firmware/drivers/finisher.h"
#include "firmware/drivers/interrupts.h"
#include "firmware/drivers/mailbox.h"
#include "firmware/drivers/npu.h"
#include "firmware/drivers/uart.h"
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
// RISC-V PLIC specification, context 0; the NPU is source 1 and the mailbox source 2 here.
constexpr std::uint64_t plic = 0x0c00'0000;
constexpr std::uint64_t enables = plic + 0x2000, threshold = plic + 0x20'0000, claim = plic + 0x20'0004;
constexpr std::uint32_t npu_source = 1, mailbox_source = 2;
constexpr std::uint64_t ring = 0x1'8000'0000, records = 0x2'9000'0000;
constexpr std::uint32_t with_check_bytes = 1u << 16;
constexpr std::uint32_t watchdog_us = 250, slice_us = 63;

void expect_probe(scripted_machine& m) {
  m.read(base, 0x64767001).read(base + 4, 16 | 16 << 8 | 2 << 16).read(base + 8, 1 << 20).read(base + 12, 16);
  m.read(base + 16, 512);
}

void expect_start(scripted_machine& m, std::uint32_t entries) {
  m.write(control, 2).write(queue, 0x8000'0000).write(queue + 4, 1).write(queue + 8, entries | with_check_bytes);
  m.write(queue + 0x14, 0x9000'0000)
      .write(queue + 0x18, 2)
      .write(irq_status, causes)
      .write(irq_enable, causes)
      .write(claim, npu_source);
  m.write(control, 1);
}

void open_controller(scripted_machine& m, drivers::interrupts& controller) {
  m.write(plic + 4 * npu_source, 1).write(plic + 4 * mailbox_source, 1).write(threshold, 0).write(enables, 0b110);
  constexpr std::uint32_t sources[] = {npu_source, mailbox_source};
  controller.start(plic, sources);
}

gen::vector_descriptor numbered(std::uint32_t number) {
  gen::vector_descriptor d;
  d.header.label = number;
  return d;
}

class npu_driver : public ::testing::Test {
 protected:
  npu_driver() { open_controller(machine_, controller_); }
  void begin(std::uint32_t entries) {
    slots_ = reinterpret_cast<gen::vector_descriptor*>(machine_.add_memory(ring, entries * 64));
    records_ = reinterpret_cast<gen::completion_record*>(machine_.add_memory(records, entries * 16));
    expect_probe(machine_);
    ASSERT_EQ(npu_.probe(base), npu_code::ok);
    expect_start(machine_, entries);
    ASSERT_EQ(npu_.start(ring, records, entries, watchdog_us), npu_code::ok);
  }
  // Submits fences, the last of which can be waited for.
  void submit_awaited(std::uint32_t count) {
    submit(count - 1);
    gen::vector_descriptor last = numbered(npu_.next_index());
    last.header.flags = gen::descriptor_flag::interrupt;
    ASSERT_EQ(npu_.submit(last), npu_code::ok);
    machine_.spends(hal::work::descriptor, count).write(tail, count);
  }
  void submit(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      ASSERT_EQ(npu_.submit(numbered(npu_.next_index())), npu_code::ok);
    }
  }

  scripted_machine machine_;
  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, npu_source}};
  gen::vector_descriptor* slots_ = nullptr;
  gen::completion_record* records_ = nullptr;
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
  machine_.add_memory(records, 32 * 16);
  expect_probe(machine_);
  ASSERT_EQ(npu_.probe(base), npu_code::ok);
  EXPECT_EQ(npu_.start(ring, records, 24, 0), npu_code::bad_argument);       // no power of two
  EXPECT_EQ(npu_.start(ring, records, 8, 0), npu_code::bad_argument);        // too short
  EXPECT_EQ(npu_.start(ring + 32, records, 16, 0), npu_code::bad_argument);  // not aligned
  EXPECT_EQ(npu_.start(ring, records, 128, 0), npu_code::bad_argument);      // leaves memory
  EXPECT_EQ(npu_.start(0x1000, records, 16, 0), npu_code::bad_argument);     // no memory
  EXPECT_EQ(npu_.start(ring, records, 64, 0), npu_code::bad_argument);       // records leave memory
  EXPECT_EQ(npu_.start(ring, records + 4, 16, 0), npu_code::bad_argument);   // records not aligned
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
    // The last of each quarter interrupts and leaves a record.
    EXPECT_EQ(slots_[i].header.flags, i == 7 ? gen::descriptor_flag::interrupt | gen::descriptor_flag::record : 0) << i;
    std::uint8_t all = 0;
    for (std::size_t byte = 0; byte < 64; ++byte) {
      all ^= reinterpret_cast<const std::uint8_t*>(&slots_[i])[byte];
    }
    EXPECT_EQ(all, 0xff) << "check byte of " << i;
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
  records_[3].index = 3;
  records_[7].index = 7;
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
  machine_.write(irq_status, causes).read(status, 1).read(head, 2).waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 1).read(head, 5);
  records_[3].index = 3;
  submit(1);
  EXPECT_EQ(slots_[0].header.label, 16u) << "the slot of descriptor 0";
  EXPECT_EQ(slots_[1].header.label, 1u);
  EXPECT_EQ(machine_.last_timeout_us, slice_us);
}

TEST_F(npu_driver, waiting_flushes_and_looks_before_it_sleeps) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
}

TEST_F(npu_driver, waiting_for_the_future_is_refused_without_access) {
  begin(16);
  submit(3);
  EXPECT_EQ(npu_.wait_complete(3), npu_code::bad_argument);
}

TEST_F(npu_driver, a_record_that_contradicts_the_head_is_refused) {
  using record = gen::completion_record;
  const record right{.index = 2};
  const std::function<void(record&)> wrong[] = {
      [](record& r) { r.index = 18; },  // of the ring's next round
      [](record& r) { r.index = ~2u; },
      [](record& r) { r.error = 4; },
      [](record& r) { r.op = 5; },
  };
  begin(16);
  submit_awaited(3);
  // Not written, it says nothing, although a record of index 2 may be left from before.
  machine_.write(irq_status, causes).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::bad_record);
  for (const auto& change : wrong) {
    records_[2] = right;
    change(records_[2]);
    machine_.write(irq_status, causes).read(status, 0).read(head, 3);
    EXPECT_EQ(npu_.wait_complete(2), npu_code::bad_record);
  }
  records_[2] = right;
  machine_.write(irq_status, causes).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
}

TEST_F(npu_driver, time_without_progress_counts_in_quarters_and_starts_anew_with_every_move) {
  begin(16);
  submit_awaited(3);
  machine_.write(irq_status, causes).read(status, 1).read(head, 0);
  for (std::uint32_t quarter = 0; quarter < 3; ++quarter) {
    machine_.waits(false).read(irq_status, 0).write(irq_status, causes).read(status, 1).read(head, 0);
  }
  machine_.waits(false).read(irq_status, 0).write(irq_status, causes).read(status, 1).read(head, 1);
  for (std::uint32_t quarter = 0; quarter < 4; ++quarter) {
    machine_.waits(false).read(irq_status, 0).write(irq_status, causes).read(status, 1).read(head, 1);
  }
  EXPECT_EQ(npu_.wait_complete(2), npu_code::timeout);
  EXPECT_EQ(machine_.last_timeout_us, slice_us);
  EXPECT_EQ(npu_.lost_interrupts(), 0u);
  machine_.write(control, 2);
  npu_.reset();
}

TEST_F(npu_driver, a_completion_is_found_without_its_interrupt) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 1).read(head, 0);
  machine_.waits(false).read(irq_status, 1).waits(false);
  machine_.write(irq_status, causes).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
  EXPECT_EQ(machine_.last_timeout_us, 1u);
  EXPECT_EQ(npu_.lost_interrupts(), 1u);
}

TEST_F(npu_driver, an_interrupt_just_behind_the_sleep_is_not_lost) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 1).read(head, 0);
  machine_.waits(false).read(irq_status, 1).waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
  EXPECT_EQ(npu_.lost_interrupts(), 0u);
}

TEST_F(npu_driver, an_error_is_found_without_its_interrupt) {
  begin(16);
  submit_awaited(3);
  machine_.write(irq_status, causes).read(status, 1).read(head, 1);
  machine_.waits(false).read(irq_status, 0x100).waits(false);
  machine_.write(irq_status, causes).read(status, 2).read(head, 1);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::stopped);
  EXPECT_EQ(npu_.lost_interrupts(), 1u);
}

TEST_F(npu_driver, a_restart_gives_the_block_its_rings_again_and_counts_from_0) {
  begin(16);
  machine_.spends(hal::work::descriptor, 8).write(tail, 8);
  submit(9);
  expect_start(machine_, 16);
  npu_.restart();
  EXPECT_EQ(npu_.next_index(), 0u);
  submit_awaited(2);
  EXPECT_EQ(slots_[1].header.label, 1u);
  records_[1].index = 1;
  machine_.write(irq_status, causes).read(status, 0).read(head, 2);
  EXPECT_EQ(npu_.wait_complete(1), npu_code::ok);
}

TEST_F(npu_driver, a_stopped_queue_tells_code_and_index) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 1).read(head, 0).waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 2).read(head, 1);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::stopped);
  machine_.read(error, 8).read(error_index, 1).read(queue + 0x2c, 0x12).read(queue + 0x28, 0x3456);
  const drivers::npu_fault fault = npu_.fault();
  EXPECT_EQ(fault.error, gen::npu::error_code::window_fault);
  EXPECT_EQ(fault.address, 0x12'0000'3456u);
  EXPECT_EQ(fault.index, 1u);
}

TEST_F(npu_driver, every_move_of_the_head_feeds_the_watchdog) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 1).read(head, 0).waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 1).read(head, 1);
  machine_.waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 1).read(head, 1);
  machine_.waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
  EXPECT_EQ(machine_.feeds, 2u) << "at 1 and at 3";
}

TEST_F(npu_driver, a_foreign_request_is_claimed_and_left_to_its_owner) {
  begin(16);
  submit_awaited(3);
  records_[2].index = 2;
  machine_.write(irq_status, causes).read(status, 1).read(head, 0).waits(true).read(claim, mailbox_source);
  machine_.waits(true).read(claim, npu_source);
  machine_.write(irq_status, causes).write(claim, npu_source).read(status, 0).read(head, 3);
  EXPECT_EQ(npu_.wait_complete(2), npu_code::ok);
}

TEST(interrupts_driver, a_request_that_is_gone_wakes_nobody_and_time_ends_the_wait) {
  scripted_machine m;
  drivers::interrupts controller;
  open_controller(m, controller);
  m.waits(true).read(claim, 0).waits(true).read(claim, 2);
  EXPECT_EQ(controller.wait(77), 2u);
  EXPECT_EQ(m.last_timeout_us, 77u);
  m.write(claim, 2);
  controller.complete(2);
  m.waits(false);
  EXPECT_EQ(controller.wait(5), 0u);
}

constexpr std::uint64_t mailbox_base = 0x1000'0000;
constexpr std::uint64_t request_state = mailbox_base + 0x14;

// The controller's level gateways, as the PLIC specification has them, in front of the mailbox and of a bare line of
// the NPU: a request stays latched when its level falls, and a claimed source asks again only when it is completed.
class gateway_machine final : public hal::machine {
 public:
  gateway_machine() { hal::install(this); }

  void set_request(bool there) {
    request_ = there;
    level(mailbox_source, there);
  }
  void level(std::uint32_t source, bool high) {
    levels_ = high ? levels_ | 1u << source : levels_ & ~(1u << source);
    sample();
  }

  std::uint32_t read32(std::uint64_t address) override {
    if (address == claim) {
      const std::uint32_t source = latched_ == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(latched_));
      claimed_ |= latched_ & 1u << source;
      latched_ &= ~claimed_;
      return source;
    }
    return address == mailbox_base ? 0x64766d01 : address == request_state ? request_ : 0;
  }
  void write32(std::uint64_t address, std::uint32_t value) override {
    if (address == claim) {
      claimed_ &= ~(1u << value);
      sample();
    } else if (address == request_state && value == 1) {
      set_request(false);
    }
  }
  // Asleep, the hart lets the next event happen; without one it would sleep for ever.
  bool wait_for_interrupt(std::uint32_t) override {
    while (latched_ == 0) {
      if (events.empty()) {
        ADD_FAILURE() << "asleep for ever";
        level(npu_source, true);
        set_request(true);
        claimed_ = 0;
        sample();
        return true;
      }
      events.front()();
      events.pop_front();
    }
    return true;
  }
  void* memory(std::uint64_t, std::uint64_t) override { return nullptr; }
  std::uint64_t now_ns() override { return 0; }
  void spend(hal::work, std::uint64_t) override {}

  std::deque<std::function<void()>> events;

 private:
  void sample() { latched_ |= levels_ & ~claimed_; }

  bool request_ = false;
  std::uint32_t levels_ = 0, latched_ = 0, claimed_ = 0;
};

class gateways : public ::testing::Test {
 protected:
  gateways() {
    constexpr std::uint32_t sources[] = {npu_source, mailbox_source};
    controller_.start(plic, sources);
    EXPECT_EQ(mailbox_.probe(mailbox_base), drivers::mailbox_code::ok);
  }
  void accept() { static_cast<void>(mailbox_.accept({controller_, mailbox_source})); }

  gateway_machine machine_;
  drivers::interrupts controller_;
  drivers::mailbox mailbox_;
};

TEST_F(gateways, a_request_served_without_a_wait_leaves_no_source_in_service) {
  machine_.set_request(true);
  accept();
  // The first look behind the stale request finds nothing; only then the host goes on.
  machine_.events.push_back([&] { machine_.set_request(true); });
  accept();
  machine_.events.push_back([&] { machine_.set_request(true); });
  accept();
  EXPECT_TRUE(machine_.events.empty());
}

TEST_F(gateways, a_mailbox_claimed_by_the_npus_wait_is_heard) {
  drivers::interrupt_line npu(controller_, npu_source);
  machine_.set_request(true);
  accept();  // leaves a stale request
  machine_.events.push_back([&] { machine_.level(npu_source, true); });
  EXPECT_TRUE(npu.wait(watchdog_us));
  machine_.level(npu_source, false);
  npu.complete();
  machine_.events.push_back([&] { machine_.set_request(true); });
  accept();
}

TEST_F(gateways, an_npu_claimed_by_the_mailboxs_wait_is_heard) {
  drivers::interrupt_line npu(controller_, npu_source);
  machine_.level(npu_source, true);
  machine_.level(npu_source, false);  // seen done, and cleared, without a wait
  machine_.events.push_back([&] { machine_.set_request(true); });
  accept();
  machine_.events.push_back([&] { machine_.level(npu_source, true); });
  EXPECT_TRUE(npu.wait(watchdog_us));
  EXPECT_TRUE(machine_.events.empty());
}

TEST(mailbox_driver, accesses_in_order) {
  scripted_machine m;
  drivers::interrupts controller;
  open_controller(m, controller);
  drivers::mailbox mailbox;
  m.read(mailbox_base, 0x64767001);
  EXPECT_EQ(mailbox.probe(mailbox_base), drivers::mailbox_code::absent);
  m.read(mailbox_base, 0x64766d01);
  ASSERT_EQ(mailbox.probe(mailbox_base), drivers::mailbox_code::ok);
  const auto expect_acceptance = [&] {
    m.write(request_state, 1).write(claim, mailbox_source);
    m.read(mailbox_base + 4, 0x8000'0040).read(mailbox_base + 8, 3);
  };

  // A request that is there already costs no sleep.
  m.read(request_state, 1);
  expect_acceptance();
  EXPECT_EQ(mailbox.accept({controller, mailbox_source}), 0x3'8000'0040u);
  m.write(mailbox_base + 12, 0).write(mailbox_base + 12, 1).write(mailbox_base + 16, 7);
  mailbox.post_progress();
  mailbox.post_progress();
  mailbox.finish(gen::result_code::npu_timeout);

  // The next one is slept for, whatever else wakes the hart, and its events count from 0 again.
  m.read(request_state, 0).waits(true).read(claim, npu_source).waits(true).read(claim, mailbox_source);
  m.read(request_state, 1);
  expect_acceptance();
  EXPECT_EQ(mailbox.accept({controller, mailbox_source}), 0x3'8000'0040u);
  EXPECT_EQ(m.last_timeout_us, 0u) << "for ever";
  m.write(mailbox_base + 12, 0);
  mailbox.post_progress();
}

// SiFive's UART: txdata, rxdata, txctrl, rxctrl, ie, ip, div.
TEST(uart_driver, accesses_in_order) {
  constexpr std::uint64_t uart_base = 0x1001'0000;
  constexpr std::uint32_t full = 1u << 31, empty = 1u << 31;
  scripted_machine m;
  drivers::uart uart(uart_base);
  m.write(uart_base + 8, 1 | 1 << 16).write(uart_base + 12, 1);
  uart.start();
  m.read(uart_base, 0).write(uart_base, 'h').read(uart_base, full).waits(false).read(uart_base, full);
  m.waits(true).read(uart_base, 0);
  m.write(uart_base, 0xff);
  uart.put("h\xff");
  m.read(uart_base + 0x14, 0).waits(false).read(uart_base + 0x14, 2).waits(false).read(uart_base + 0x14, 1);
  uart.flush();
  m.read(uart_base + 4, empty).read(uart_base + 4, 0x80);
  EXPECT_EQ(uart.get(), std::nullopt);
  EXPECT_EQ(uart.get(), static_cast<char>(0x80));
}

TEST(finisher_driver, accesses_in_order) {
  constexpr std::uint64_t finisher_base = 0x10'0000;
  scripted_machine m;
  drivers::finisher finisher(finisher_base);
  m.write(finisher_base, 0x5555).write(finisher_base, 0x00ff'3333);
  finisher.pass();
  finisher.fail(255);
}

}  // namespace
}  // namespace dvp
