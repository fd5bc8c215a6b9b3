// Which event suffers which fault.
#include "tlm/faults/fault_plan.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <string>

namespace dvp::faults {
namespace {

using enum event_class;

// One letter per event: the first of the kind's name that it suffers, or a dot.
std::string suffered(fault_schedule& schedule, const std::vector<event_class>& events, std::uint64_t step_ps = 0) {
  std::string letters;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto f = schedule.next(events[i], step_ps * i);
    letters += f ? kind_names[static_cast<std::size_t>(f->kind)][0] : '.';
  }
  return letters;
}

TEST(fault_plan, a_program_counts_events_of_its_class) {
  fault_plan plan;
  plan.program = {
      {fault_kind::bus_error, write, 2}, {fault_kind::stuck, access, 4}, {fault_kind::lost_interrupt, interrupt}};
  fault_schedule schedule(plan);
  EXPECT_EQ(suffered(schedule, {write, read, interrupt, write, record, fetch, write, interrupt}), "..lbs...");
  EXPECT_EQ(schedule.outstanding(), 0U);
  EXPECT_EQ(schedule.events(write), 3U);
  EXPECT_EQ(schedule.events(interrupt), 2U);
  EXPECT_EQ(schedule.events(access), 6U);
  schedule.arm({fault_kind::stuck});
  schedule.disarm();
  EXPECT_EQ(suffered(schedule, {write, read}), "..");
}

TEST(fault_plan, events_before_its_time_do_not_count) {
  fault_plan plan;
  plan.program = {{fault_kind::record, record, 2, 300}};
  fault_schedule schedule(plan);
  EXPECT_EQ(suffered(schedule, {record, record, record, record, record}, 100), "....r");
}

TEST(fault_plan, an_event_suffers_one_fault_and_the_other_comes_next) {
  fault_plan plan;
  plan.program = {{fault_kind::bus_error, read}, {fault_kind::ecc_silent, read}};
  fault_schedule schedule(plan);
  EXPECT_EQ(suffered(schedule, {write, read, write, read, read}), ".b.e.");
}

TEST(fault_plan, an_armed_fault_counts_from_now) {
  fault_schedule schedule(fault_plan{});
  EXPECT_EQ(suffered(schedule, {fetch, fetch}), "..");
  schedule.arm({fault_kind::descriptor, fetch, 2});
  EXPECT_EQ(suffered(schedule, {fetch, read, fetch, fetch}), "..d.");
}

TEST(fault_plan, chance_is_its_seeds_and_keeps_to_the_mean) {
  constexpr std::uint64_t mean = 50;
  constexpr std::size_t events = 100'000;
  fault_plan plan;
  plan.random.seed = 3;
  plan.random.mean_events[static_cast<std::size_t>(fault_kind::bus_error)] = mean;
  const auto draw = [&](std::uint64_t seed) {
    plan.random.seed = seed;
    fault_schedule schedule(plan);
    return suffered(schedule, std::vector<event_class>(events, read));
  };
  const std::string once = draw(3);
  EXPECT_EQ(once, draw(3));
  EXPECT_NE(once, draw(4));
  std::size_t count = 0, last = 0;
  for (std::size_t i = 0; i < events; ++i) {
    if (once[i] == '.') continue;
    ASSERT_LE(i + 1 - last, 2 * mean - 1);
    last = i + 1;
    ++count;
  }
  EXPECT_NEAR(static_cast<double>(count), static_cast<double>(events) / mean, 100);
  fault_schedule other(plan);
  EXPECT_EQ(suffered(other, std::vector<event_class>(1000, interrupt)), std::string(1000, '.'));
}

// 64-byte lines whose bytes' exclusive or is the same before and after are lines whose damage nobody finds.
TEST(fault_plan, every_drawn_burst_changes_the_exclusive_or_of_a_line) {
  fault_plan plan;
  plan.random.seed = 9;
  plan.random.mean_events[static_cast<std::size_t>(fault_kind::descriptor)] = 1;
  fault_schedule schedule(plan);
  std::map<int, int> widths;
  for (int i = 0; i < 20'000; ++i) {
    const auto f = schedule.next(fetch, 0);
    ASSERT_TRUE(f && f->kind == fault_kind::descriptor);
    const std::size_t lines = 1 + static_cast<std::size_t>(i) % 8;
    std::vector<unsigned char> data(64 * lines, 0);
    invert(f->bits, data.data(), data.size());
    int inverted = 0;
    for (std::size_t line = 0; line < lines; ++line) {
      unsigned char all = 0;
      bool damaged = false;
      for (std::size_t b = 0; b < 64; ++b) {
        const unsigned char byte = data[64 * line + b];
        all ^= byte;
        damaged |= byte != 0;
        inverted += std::popcount(byte);
      }
      ASSERT_EQ(damaged, all != 0);
    }
    ASSERT_GE(inverted, 1);
    ASSERT_LE(inverted, 8);
    ++widths[std::countl_zero(f->bits.mask) + std::countr_zero(f->bits.mask)];
  }
  EXPECT_EQ(widths.begin()->first, 56) << "bursts of up to eight bits";
  EXPECT_EQ(widths.rbegin()->first, 63) << "and of one";
}

TEST(fault_plan, silent_errors_are_of_three_bits_of_a_word) {
  fault_plan plan;
  plan.random.mean_events[static_cast<std::size_t>(fault_kind::ecc_silent)] = 1;
  fault_schedule schedule(plan);
  for (int i = 0; i < 1000; ++i) {
    const auto f = schedule.next(read, 0);
    ASSERT_TRUE(f);
    EXPECT_EQ(std::popcount(f->bits.mask), 3);
  }
}

TEST(fault_plan, inverting_wraps_around_the_end_and_twice_is_nothing) {
  std::vector<unsigned char> data(12, 0);
  invert({22, 0x8000'0000'0000'4201}, data.data(), data.size());
  EXPECT_EQ(data, (std::vector<unsigned char>{0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0x01, 0x42}));
  invert({10, 0x8000'0000'0000'4201}, data.data(), data.size());
  EXPECT_EQ(data, std::vector<unsigned char>(12, 0));
}

}  // namespace
}  // namespace dvp::faults
