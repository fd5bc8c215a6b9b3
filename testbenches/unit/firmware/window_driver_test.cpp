// The address window's driver: its register accesses, in order, and what it promises for each code.
#include "firmware/drivers/interrupts.h"
#include "firmware/drivers/npu_window.h"
#include "testbenches/unit/firmware/scripted_machine.h"

namespace dvp {
namespace {

using drivers::window_code;
using testbench::scripted_machine;

// The register map of the published specification, written out here on purpose.
constexpr std::uint64_t base = 0x2000'0000;
constexpr std::uint64_t irq_status = base + 0x28, irq_enable = base + 0x2c;
constexpr std::uint64_t size_lo = base + 0x30, size_hi = base + 0x34, geometry = base + 0x38;
constexpr std::uint64_t bus_lo = base + 0x40, bus_hi = base + 0x44, first_page = base + 0x48, count = base + 0x4c;
constexpr std::uint64_t entry = base + 0x50, command = base + 0x54, status = base + 0x58;
constexpr std::uint32_t window_cause = 0x1'0000, completions = 0x101;
constexpr std::uint32_t maps = 1, unmaps = 2, flushes = 3;
constexpr std::uint32_t busy = 1, refused = 2;
constexpr std::uint64_t claim = 0x0c20'0004;
constexpr std::uint32_t source = 1;
constexpr std::uint32_t timeout_us = 400;

class window_driver : public ::testing::Test {
 protected:
  window_driver() {
    constexpr std::uint32_t sources[] = {source};
    machine_.write(0x0c00'0004, 1).write(0x0c20'0000, 0).write(0x0c00'2000, 0b10);
    controller_.start(0x0c00'0000, sources);
  }
  // 4.25 GiB in 64 entries of 64 KiB pages.
  void open() {
    machine_.read(geometry, 64 | 16 << 16).read(size_hi, 1).read(size_lo, 0x1000'0000);
    window_.open(base, timeout_us);
  }
  void expect_command(std::uint32_t operation, std::uint32_t status_then) {
    machine_.write(irq_status, window_cause).write(command, operation).read(status, status_then);
  }
  void expect_map(std::uint32_t status_then) {
    machine_.write(first_page, 0x1'0002).write(count, 3).write(bus_lo, 0x8001'0000).write(bus_hi, 2).write(entry, 7);
    expect_command(maps, status_then);
  }
  window_code start_map() { return window_.start_map(7, 0x2'8001'0000, 0x1'0002'0000, 0x3'0000); }

  scripted_machine machine_;
  drivers::interrupts controller_;
  drivers::npu_window window_{{controller_, source}};
};

TEST_F(window_driver, reads_the_geometry) {
  EXPECT_FALSE(window_.present());
  open();
  EXPECT_TRUE(window_.present());
  EXPECT_EQ(window_.geometry().bytes, 0x1'1000'0000u);
  EXPECT_EQ(window_.geometry().entries, 64u);
  EXPECT_EQ(window_.geometry().page_bytes, 0x1'0000u);
}

TEST_F(window_driver, without_a_window_nothing_is_touched) {
  machine_.read(geometry, 0).read(size_hi, 0).read(size_lo, 0);
  window_.open(base, timeout_us);
  EXPECT_FALSE(window_.present());
  EXPECT_EQ(window_.map(0, 0, 0, 4096), window_code::absent);
  EXPECT_EQ(window_.unmap(0), window_code::absent);
  EXPECT_EQ(window_.flush(0, 1), window_code::absent);
}

TEST_F(window_driver, arguments_that_the_registers_cannot_hold_touch_nothing) {
  open();
  EXPECT_EQ(window_.map(0, 0, 0x100, 0x1'0000), window_code::bad_argument);
  EXPECT_EQ(window_.map(0, 0, 0, 0x100), window_code::bad_argument);
  EXPECT_EQ(window_.map(0, 0, 0, 0), window_code::bad_argument);
  EXPECT_EQ(window_.map(0x1'0000, 0, 0, 0x1'0000), window_code::bad_argument);
  EXPECT_EQ(window_.map(0, 0, std::uint64_t{1} << 48, 0x1'0000), window_code::bad_argument);
  EXPECT_EQ(window_.map(0, 0, 0, std::uint64_t{1} << 48), window_code::bad_argument);
  EXPECT_EQ(window_.unmap(0x1'0000), window_code::bad_argument);
  EXPECT_EQ(window_.flush(0, 0), window_code::bad_argument);
  EXPECT_EQ(window_.flush(~std::uint64_t{0}, 2), window_code::bad_argument);
}

TEST_F(window_driver, a_command_that_is_over_needs_no_sleep) {
  open();
  expect_map(0);
  machine_.read(status, 0).read(status, 0);
  EXPECT_EQ(window_.map(7, 0x2'8001'0000, 0x1'0002'0000, 0x3'0000), window_code::ok);
  machine_.write(entry, 7);
  expect_command(unmaps, 0);
  machine_.read(status, 0).read(status, 0);
  EXPECT_EQ(window_.unmap(7), window_code::ok);
  machine_.write(first_page, 1).write(count, 3);  // bytes 0x1ffff to 0x30000
  expect_command(flushes, 0);
  machine_.read(status, 0).read(status, 0);
  EXPECT_EQ(window_.flush(0x1'ffff, 0x1'0002), window_code::ok);
}

// Asleep behind the window's cause alone; a completion that asked before ends the first sleep for nothing.
TEST_F(window_driver, the_line_is_shared_with_completions) {
  open();
  expect_map(busy);
  ASSERT_EQ(start_map(), window_code::ok);
  machine_.read(status, busy);
  EXPECT_TRUE(window_.busy());
  machine_.read(status, busy).read(irq_enable, completions).write(irq_enable, window_cause);
  machine_.read(status, busy).waits(true).read(claim, source);
  machine_.read(status, busy).write(claim, source).waits(true).read(claim, source);
  machine_.read(status, 0).write(irq_status, window_cause).write(claim, source).write(irq_enable, completions);
  machine_.read(status, 0);
  EXPECT_EQ(window_.finish(), window_code::ok);
  EXPECT_EQ(machine_.last_timeout_us, timeout_us / 4);
  EXPECT_EQ(machine_.feeds, 2u);
}

TEST_F(window_driver, a_lost_interrupt_costs_time_only) {
  open();
  expect_map(busy);
  ASSERT_EQ(start_map(), window_code::ok);
  machine_.read(status, busy).read(irq_enable, completions).write(irq_enable, window_cause);
  machine_.read(status, busy).waits(false).read(status, 0).waits(false).read(status, 0);
  machine_.write(irq_status, window_cause).write(claim, source).write(irq_enable, completions).read(status, 0);
  EXPECT_EQ(window_.finish(), window_code::ok);
  EXPECT_EQ(window_.lost_interrupts(), 1u);
}

// The sleep ended just before the interrupt came: it is heard, and not lost.
TEST_F(window_driver, a_late_interrupt_is_not_lost) {
  open();
  expect_map(busy);
  ASSERT_EQ(start_map(), window_code::ok);
  machine_.read(status, busy).read(irq_enable, completions).write(irq_enable, window_cause);
  machine_.read(status, busy).waits(false).read(status, 0).waits(true).read(claim, source).read(status, 0);
  machine_.write(irq_status, window_cause).write(claim, source).write(irq_enable, completions).read(status, 0);
  EXPECT_EQ(window_.finish(), window_code::ok);
  EXPECT_EQ(window_.lost_interrupts(), 0u);
}

TEST_F(window_driver, one_that_hangs_times_out) {
  // 255 pages: one time-out.
  machine_.read(geometry, 64 | 16 << 16).read(size_hi, 0).read(size_lo, 0xff'0000);
  window_.open(base, timeout_us);
  expect_map(busy);
  ASSERT_EQ(start_map(), window_code::ok);
  machine_.read(status, busy).read(irq_enable, completions).write(irq_enable, window_cause);
  for (int look = 0; look < 4; ++look) {
    machine_.read(status, busy).waits(false).read(status, busy);
  }
  machine_.read(status, busy).write(irq_status, window_cause).write(claim, source).write(irq_enable, completions);
  machine_.read(status, busy);
  EXPECT_EQ(window_.finish(), window_code::timeout);
}

TEST_F(window_driver, a_second_command_is_refused_and_the_first_goes_on) {
  open();
  expect_map(busy);
  ASSERT_EQ(start_map(), window_code::ok);
  machine_.write(entry, 3);
  expect_command(unmaps, busy | refused);
  EXPECT_EQ(window_.start_unmap(3), window_code::busy);
  machine_.read(status, refused).read(status, refused);
  EXPECT_EQ(window_.finish(), window_code::ok);
}

TEST_F(window_driver, every_result_has_its_code) {
  open();
  const std::pair<std::uint32_t, window_code> codes[] = {
      {0, window_code::ok},        {1, window_code::absent},           {2, window_code::bad_argument},
      {3, window_code::bad_entry}, {4, window_code::not_page_aligned}, {5, window_code::bad_range},
      {6, window_code::overlap}};
  for (const auto& [result, code] : codes) {
    expect_map(result << 8);
    machine_.read(status, result << 8).read(status, result << 8);
    EXPECT_EQ(window_.map(7, 0x2'8001'0000, 0x1'0002'0000, 0x3'0000), code) << result;
  }
}

}  // namespace
}  // namespace dvp
