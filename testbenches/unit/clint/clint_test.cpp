// Times of the timer lines by hand and against a reference that knows nothing of events, and the register halves.
#include "tlm/clint/clint.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "testbenches/lib/register_driver.h"

namespace dvp::clint {
namespace {

namespace reg = gen::clint;
using sc_core::sc_time;

// A line's changes with their times in picoseconds.
class edges : public sc_core::sc_module {
 public:
  std::vector<std::pair<std::uint64_t, bool>> seen;

  edges(const sc_core::sc_module_name& name, const sc_core::sc_signal<bool>& line) : sc_module(name), line_(line) {
    SC_HAS_PROCESS(edges);
    SC_METHOD(note);
    sensitive << line_;
    dont_initialize();
  }

 private:
  void note() { seen.emplace_back(sc_core::sc_time_stamp().value(), line_.read()); }

  const sc_core::sc_signal<bool>& line_;
};

struct bench {
  clint device;
  sc_core::sc_vector<sc_core::sc_signal<bool>> timer;
  sc_core::sc_vector<sc_core::sc_signal<bool>> software;
  std::vector<std::unique_ptr<edges>> timer_edges;
  test::register_driver registers{device};

  explicit bench(std::uint32_t harts) : device("clint", harts), timer("timer", harts), software("software", harts) {
    for (std::uint32_t hart = 0; hart < harts; ++hart) {
      device.timer[hart].bind(timer[hart]);
      device.software[hart].bind(software[hart]);
      timer_edges.push_back(std::make_unique<edges>(sc_core::sc_gen_unique_name("edges"), timer[hart]));
    }
    test::settle();
  }
  void run_ps(std::uint64_t time) {
    sc_core::sc_start(sc_time(static_cast<double>(time), sc_core::SC_PS));
    test::settle();
  }
};

TEST(clint, a_timer_rises_at_its_nanosecond_and_falls_with_the_write) {
  bench b(2);
  EXPECT_FALSE(b.timer[0].read()) << "pending after reset";
  b.registers.write_pair(reg::mtimecmp::lo::at(1), 1000);
  EXPECT_EQ(b.device.next_rise(1), sc_time(1000, sc_core::SC_NS));
  EXPECT_EQ(b.device.next_rise(0), sc_core::sc_max_time());
  b.run_ps(999'999);
  EXPECT_FALSE(b.timer[1].read());
  EXPECT_EQ(b.registers.read_pair(reg::mtime_lo::offset), 999U);
  b.run_ps(1);
  EXPECT_TRUE(b.timer[1].read());
  EXPECT_EQ(b.registers.read_pair(reg::mtime_lo::offset), 1000U);
  EXPECT_EQ(b.device.next_rise(1), sc_core::sc_max_time()) << "it is high";
  b.run_ps(500);
  b.registers.write_pair(reg::mtimecmp::lo::at(1), 1001);  // half a nanosecond ahead
  EXPECT_EQ(b.device.next_rise(1), sc_time(1001, sc_core::SC_NS));
  test::settle();
  EXPECT_FALSE(b.timer[1].read());
  b.run_ps(600);
  b.registers.write_pair(reg::mtimecmp::lo::at(1), 1001);  // already there
  b.run_ps(900);
  b.registers.write_pair(reg::mtimecmp::lo::at(1), 5'000'000'000);  // 5 s
  b.run_ps(5'000'000'000'000);
  EXPECT_FALSE(b.timer[0].read());
  using list = std::vector<std::pair<std::uint64_t, bool>>;
  EXPECT_EQ(
      b.timer_edges[1]->seen,
      (list{{1'000'000, true}, {1'000'500, false}, {1'001'000, true}, {1'002'000, false}, {5'000'000'000'000, true}}));
}

TEST(clint, software_lines_follow_msip) {
  bench b(4);
  for (std::uint32_t hart = 0; hart < 4; ++hart) {
    b.registers.write(reg::msip::state::at(hart), 0xffff'ffff);
    EXPECT_EQ(b.registers.read(4 * hart), 1U) << "only bit 0 is there";
    test::settle();
    for (std::uint32_t other = 0; other < 4; ++other) EXPECT_EQ(b.software[other].read(), other == hart);
    b.registers.write(reg::msip::state::at(hart), 0);
  }
}

// Halves and pairs of mtimecmp, moves of mtime, and steps of time at random; the lines must be what the values say.
TEST(clint, lines_match_the_definition_under_random_traffic) {
  constexpr std::uint32_t harts = 3;
  const std::uint32_t seed = 90210;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  bench b(harts);
  std::uint64_t compare[harts] = {~0ULL, ~0ULL, ~0ULL};
  std::uint64_t at_zero = 0;  // mtime less simulated nanoseconds
  int rose = 0;
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t now = sc_core::sc_time_stamp().value() / 1000 + at_zero;
    const std::uint32_t hart = static_cast<std::uint32_t>(random() % harts);
    const std::uint64_t near = now + random() % 64 - 16;
    switch (random() % 8) {
      case 0:
        compare[hart] = near;
        b.registers.write_pair(reg::mtimecmp::lo::at(hart), near);
        break;
      case 1:
        compare[hart] = (compare[hart] >> 32 << 32) | (near & 0xffff'ffff);
        b.registers.write(reg::mtimecmp::lo::at(hart), static_cast<std::uint32_t>(near));
        break;
      case 2:
        compare[hart] = (compare[hart] & 0xffff'ffff) | (near >> 32 << 32);
        b.registers.write(reg::mtimecmp::hi::at(hart), static_cast<std::uint32_t>(near >> 32));
        break;
      case 3:
        if (random() % 50 == 0) {  // far away, often close below a carry or the wrap
          const std::uint64_t target = (random() % 4 == 0 ? 0 : random() << 32) - random() % 100;
          at_zero = target - sc_core::sc_time_stamp().value() / 1000;
          b.registers.write_pair(reg::mtime_lo::offset, target);
        }
        break;
      default:
        b.run_ps(random() % 3 == 0 ? 1000 * (random() % 40) : random() % 9000);
    }
    test::settle();
    const std::uint64_t time = sc_core::sc_time_stamp().value() / 1000 + at_zero;
    ASSERT_EQ(b.registers.read_pair(reg::mtime_lo::offset), time) << "step " << step;
    ASSERT_EQ(b.device.mtime(), time);
    for (std::uint32_t h = 0; h < harts; ++h) {
      ASSERT_EQ(b.timer[h].read(), time >= compare[h]) << "step " << step << " hart " << h << " time " << time;
      rose += b.timer[h].read() ? 1 : 0;
    }
  }
  EXPECT_GT(rose, 1000);
}

TEST(clint, halves_of_mtime_are_written_one_by_one_too) {
  bench b(1);
  b.run_ps(3'000);
  b.registers.write(reg::mtime_hi::offset, 7);
  EXPECT_EQ(b.registers.read_pair(reg::mtime_lo::offset), 7ULL << 32 | 3);
  b.registers.write(reg::mtime_lo::offset, 0xffff'ffff);
  EXPECT_EQ(b.registers.read(reg::mtime_hi::offset), 7U);
  b.run_ps(1'000);
  EXPECT_EQ(b.registers.read_pair(reg::mtime_lo::offset), 8ULL << 32);
  EXPECT_EQ(b.registers.debug_read(reg::mtime_hi::offset), 8U);
}

TEST(clint, harts_that_are_not_there_are_harmless) {
  bench b(1);
  b.registers.write_pair(reg::mtimecmp::lo::at(3), 0);
  b.registers.write(reg::msip::state::at(3), 1);
  b.run_ps(5'000);
  EXPECT_EQ(b.registers.read_pair(reg::mtimecmp::lo::at(3)), 0U);
  EXPECT_FALSE(b.timer[0].read());
  EXPECT_FALSE(b.software[0].read());
  EXPECT_EQ(b.registers.try_write(reg::mtimecmp::hi::at(3) + 4, 0), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST(clint, a_wrong_number_of_harts_is_fatal) {
  test::throw_on_fatal();
  try {
    clint device("clint", 5);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "clint: 5 harts, the registers serve 1 to 4");
  }
}

}  // namespace
}  // namespace dvp::clint
