// Three native harts without devices: 1 GHz, 4 cycles to look at what another hart wrote, 10 per unit of work. All
// expected times are added up by hand in the comments.
#include "tlm/cpu/native_harts.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

#include "tlm/core/bus.h"
#include "tlm/memory/simple_memory.h"

namespace dvp::cpu {
namespace {

using sc_core::sc_time;

constexpr std::uint64_t ram_bytes = 0x1000;
constexpr std::uint32_t work = 0;

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}

struct bench {
  static constexpr std::uint32_t harts_in_all = 3;

  core::statistics figures;
  core::timeline timeline;
  std::function<void(native_harts&)> firmware;
  native_harts harts;
  core::bus wires{"wires", {{"ram", 0, ram_bytes}}, harts_in_all, ns(2)};
  memory::simple_memory ram;
  std::deque<sc_core::sc_signal<bool>> lines;

  explicit bench(std::function<void(native_harts&)> body, double quantum_ns = 0)
      : firmware(std::move(body)),
        harts(
            harts_in_all, config(quantum_ns), [this] { firmware(harts); }, figures, timeline),
        ram("ram", {ram_bytes, ns(10), 1'000'000'000, 0, 0, true, {}}, figures, timeline),
        lines(harts_in_all) {
    for (std::uint32_t h = 0; h < harts_in_all; ++h) {
      harts[h].socket.bind(wires.from_initiator(h));
      harts[h].interrupt.bind(lines[h]);
    }
    wires.to_target("ram").bind(ram.socket);
  }

  static native_cpu_config config(double quantum_ns) {
    native_cpu_config c;
    c.clock_hz = 1'000'000'000;
    c.work = {{"work", 10}};
    c.register_access_cycles = 4;
    c.quantum = ns(quantum_ns);
    return c;
  }
};

class quantum : public testing::TestWithParam<double> {};

TEST_P(quantum, does_not_change_when_work_begins_and_ends) {
  std::vector<std::uint64_t> times, others;
  std::vector<bool> answers;
  bench b(
      [&](native_harts& harts) {
        const auto note = [&] { times.push_back(harts.calling().now_ns()); };
        const auto job = [&] {
          EXPECT_EQ(&harts.calling(), &harts[1]);
          others.push_back(harts.calling().now_ns());
          harts.calling().spend(work, 5);
          others.push_back(harts.calling().now_ns());
        };
        EXPECT_EQ(&harts.calling(), &harts[0]);
        harts.calling().spend(work, 1);            //                                      10
        answers.push_back(harts.start(1, job));    // 4; hart 1 from 14 to 64
        note();                                    //                                      14
        harts.calling().spend(work, 3);            //                                      44
        answers.push_back(harts.idle(1)), note();  // 4, at work                           48
        answers.push_back(harts.start(1, job));    // 4, refused
        note();                                    //                                      52
        answers.push_back(harts.idle(2)), note();  // 4, never had work                    56
        harts.wait_for(1), note();                 // 4, then sleeps                       64
        answers.push_back(harts.idle(1)), note();  // 4                                    68
        answers.push_back(harts.start(1, job));    // 4; hart 1 from 72 to 122
        harts.calling().spend(work, 10);           //                                     172
        harts.wait_for(1), note();                 // 4, is over                          176
        answers.push_back(harts.start(0, job));    // itself
        answers.push_back(harts.start(3, job));    // there is none
        answers.push_back(harts.idle(3));          // and it has no work
        harts.wait_for(3), note();                 //                                     176
      },
      GetParam());
  sc_core::sc_start();
  EXPECT_EQ(b.harts.fault(), "");
  EXPECT_TRUE(b.harts[0].done());
  EXPECT_EQ(times, (std::vector<std::uint64_t>{14, 48, 52, 56, 64, 68, 176, 176}));
  EXPECT_EQ(others, (std::vector<std::uint64_t>{14, 64, 72, 122}));
  EXPECT_EQ(answers, (std::vector<bool>{true, false, false, true, true, true, false, false, true}));
  EXPECT_EQ(b.figures.count_of("cpu.busy_ps"), 172'000U) << "14 units and 8 looks";
  EXPECT_EQ(b.figures.count_of("cpu.wait_ps"), 4'000U) << "60 to 64";
  EXPECT_EQ(b.figures.count_of("cpu1.work.work"), 10U);
  EXPECT_EQ(b.figures.count_of("cpu1.busy_ps"), 100'000U);
  EXPECT_EQ(b.figures.count_of("cpu2.busy_ps"), 0U);
}

INSTANTIATE_TEST_SUITE_P(native_harts, quantum, testing::Values(0.0, 7.0, 1'000.0));

TEST(native_harts, a_job_can_give_work_too_and_harts_run_side_by_side) {
  std::uint64_t end = 0, inner_end = 0;
  bench b([&](native_harts& harts) {
    const auto inner = [&] {
      EXPECT_EQ(&harts.calling(), &harts[2]);
      harts.calling().spend(work, 20);  // 8 to 208
      inner_end = harts.calling().now_ns();
    };
    ASSERT_TRUE(harts.start(1, [&] {       // at 4
      ASSERT_TRUE(harts.start(2, inner));  // at 8
      harts.calling().spend(work, 10);     // to 108
      harts.wait_for(2);                   // to 208
    }));
    harts.calling().spend(work, 10);  // to 104
    harts.wait_for(1);
    end = harts.calling().now_ns();
  });
  sc_core::sc_start();
  EXPECT_EQ(inner_end, 208U);
  EXPECT_EQ(end, 208U);
}

TEST(native_harts, what_a_job_throws_ends_the_simulation) {
  bool went_on = false;
  bench b([&](native_harts& harts) {
    ASSERT_TRUE(harts.start(1, [&] {
      harts.calling().spend(work, 2);
      throw std::runtime_error("the job is broken");
    }));
    harts.wait_for(1);
    went_on = true;
  });
  sc_core::sc_start();
  EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
  EXPECT_EQ(b.harts.fault(), "the work of hart 1 ended: the job is broken");
  EXPECT_EQ(sc_core::sc_time_stamp(), ns(24));
  EXPECT_FALSE(went_on);
}

TEST(native_harts, what_the_firmware_throws_ends_the_simulation) {
  bench b([](native_harts&) { throw std::runtime_error("broken"); });
  sc_core::sc_start();
  EXPECT_EQ(sc_core::sc_get_status(), sc_core::SC_STOPPED);
  EXPECT_EQ(b.harts.fault(), "the firmware ended: broken");
}

}  // namespace
}  // namespace dvp::cpu
