#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "testbenches/unit/cpu/rv64/sc_machine.h"

namespace dvp::cpu::rv64 {
namespace {

using debug::resume;
using debug::resume_action;
using debug::stop;
using debug::stop_reason;
using sc_core::sc_time;

// Answers each stop by the next entry; runs on when there is none left.
class scripted_debugger final : public debug::server {
 public:
  struct entry {
    stop_reason reason;
    std::function<resume(const stop&)> then;
  };
  std::deque<entry> script;
  std::vector<stop_reason> unexpected;
  bool wants = false;

  resume stopped(const stop& why) override {
    if (script.empty() || script.front().reason != why.reason) {
      unexpected.push_back(why.reason);
      return {resume_action::run, 0};
    }
    const entry now = std::move(script.front());
    script.pop_front();
    return now.then(why);
  }
  bool wants_stop() override { return std::exchange(wants, false); }
};

rv64_cpu_config plain_config() {
  rv64_cpu_config config;
  config.quantum = sc_time(1, sc_core::SC_US);
  return config;
}

struct bench {
  test::sc_machine machine{"machine", "debugged", plain_config(), 2};
  rv64_cluster& target = *machine.cluster;
  scripted_debugger debugger;

  std::uint64_t at(const char* symbol) const { return machine.image[symbol]; }
  std::uint64_t pc(std::uint32_t hart) { return *target.read_register(hart, debug::pc_number); }
  std::uint64_t x(unsigned number) { return *target.read_register(0, number); }
  void expect(stop_reason reason, std::function<void(const stop&)> look, resume next = {}) {
    debugger.script.push_back({reason, [look = std::move(look), next](const stop& why) {
                                 look(why);
                                 return next;
                               }});
  }
  void run(bool stop_first) {
    target.attach(&debugger, stop_first);
    sc_core::sc_start(sc_time(1, sc_core::SC_MS));
    EXPECT_TRUE(debugger.script.empty()) << debugger.script.size() << " stops did not come";
    EXPECT_EQ(debugger.unexpected, std::vector<stop_reason>{});
  }
};

TEST(debug, stops_steps_and_breakpoints) {
  bench b;
  b.expect(stop_reason::interrupted,
           [&](const stop&) {
             EXPECT_EQ(b.pc(0), test::program::base);
             EXPECT_EQ(b.pc(1), test::program::base);
             EXPECT_EQ(b.machine.harts[0]->core().figures().instructions, 0U);
             b.target.set_breakpoint(b.at("square"));
             b.target.set_breakpoint(b.at("square"));
           },
           {});
  const auto in_square = [&](std::uint64_t argument) {
    b.expect(stop_reason::breakpoint,
             [&b, argument](const stop& why) {
               EXPECT_EQ(why.hart, 0U);
               EXPECT_EQ(b.pc(0), b.at("square"));
               EXPECT_EQ(b.x(10), argument) << "the instruction has not executed";
               EXPECT_EQ(b.x(1), b.at("stored"));
             },
             {resume_action::step, 0});
    b.expect(stop_reason::stepped, [&b, argument](const stop& why) {
      EXPECT_EQ(why.hart, 0U);
      EXPECT_EQ(b.pc(0), b.at("square") + 4);
      EXPECT_EQ(b.x(10), argument * argument);
      if (argument == 2) {
        EXPECT_TRUE(b.target.write_register(0, 10, 77));
        b.target.clear_breakpoint(b.at("square"));
      }
    });
  };
  in_square(0);
  in_square(1);
  in_square(2);
  b.run(true);
  EXPECT_TRUE(b.machine.finished);
  EXPECT_EQ(b.machine.doubleword(b.at("table") + 8), 1U);
  EXPECT_EQ(b.machine.doubleword(b.at("table") + 16), 77U) << "written by the debugger";
  EXPECT_EQ(b.machine.doubleword(b.at("table") + 24), 9U);
}

TEST(debug, watchpoints_stop_behind_the_access) {
  bench b;
  b.target.set_watchpoint(debug::watch::write, b.at("table") + 16, 8);
  b.target.set_watchpoint(debug::watch::read, b.at("table"), 8);
  b.target.set_watchpoint(debug::watch::access, 0x1000'0040, 4);
  b.expect(stop_reason::watchpoint, [&](const stop& why) {
    EXPECT_EQ(why.watched_address, b.at("table") + 16);
    EXPECT_EQ(b.machine.doubleword(b.at("table") + 16), 4U) << "it has happened";
    EXPECT_EQ(b.pc(0), b.at("stored") + 4);
  });
  b.expect(stop_reason::watchpoint, [&](const stop& why) { EXPECT_EQ(why.watched_address, b.at("table")); });
  b.expect(stop_reason::watchpoint, [&](const stop& why) {
    EXPECT_EQ(why.watched_address, 0x1000'0040U);
    EXPECT_EQ(b.pc(0), b.at("device_read"));
  });
  b.expect(stop_reason::watchpoint, [&](const stop& why) {
    EXPECT_EQ(why.watched_address, 0x1000'0040U);
    EXPECT_EQ(b.x(12), 4U);
    b.target.clear_watchpoint(debug::watch::access, 0x1000'0040, 4);
    b.target.clear_watchpoint(debug::watch::read, b.at("table"), 8);
    b.target.clear_watchpoint(debug::watch::write, b.at("table") + 16, 8);
    b.target.set_watchpoint(debug::watch::write, b.at("table") + 3, 2);
  });
  b.expect(stop_reason::watchpoint, [&](const stop& why) {
    EXPECT_EQ(why.watched_address, b.at("table") + 3) << "an amo writes";
    EXPECT_EQ(b.pc(0), b.at("after_amo"));
  });
  b.run(false);
  EXPECT_TRUE(b.machine.finished);
}

TEST(debug, registers_and_memory) {
  bench b;
  b.target.set_breakpoint(b.at("asleep"));
  b.expect(stop_reason::breakpoint, [&](const stop&) {
    EXPECT_EQ(b.target.harts(), 2U);
    EXPECT_EQ(b.target.read_register(0, 0), 0U);
    EXPECT_FALSE(b.target.write_register(0, 0, 5)) << "x0";
    EXPECT_EQ(b.target.read_register(1, debug::first_csr + 0xf14), 1U) << "mhartid";
    EXPECT_FALSE(b.target.write_register(1, debug::first_csr + 0xf14, 1));
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 0x304), 1U << 7) << "mie";
    EXPECT_TRUE(b.target.write_register(0, debug::first_csr + 0x340, 0x1234)) << "mscratch";
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 0x340), 0x1234U);
    EXPECT_TRUE(b.target.write_register(0, debug::first_float + 3, 0x4008000000000000));
    EXPECT_EQ(b.target.read_register(0, debug::first_float + 3), 0x4008000000000000U);
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 0x123), std::nullopt);
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 4096), std::nullopt);
    EXPECT_EQ(b.target.read_register(2, 1), std::nullopt);
    EXPECT_FALSE(b.target.write_register(2, 1, 0));

    std::vector<std::uint8_t> bytes(32);
    EXPECT_EQ(b.target.read_memory(b.at("table"), bytes), 32U);
    EXPECT_EQ(bytes[24], 9U);
    EXPECT_EQ(b.target.read_memory(test::program::base + test::sc_machine::ram_bytes - 8, bytes), 8U)
        << "up to the end";
    EXPECT_EQ(b.target.read_memory(0x4000'0000, bytes), 0U);
    std::vector<std::uint8_t> word(4);
    const std::size_t accesses = b.machine.device.accesses.size();
    EXPECT_EQ(b.target.read_memory(0x1000'0040, word), 4U);
    EXPECT_EQ(word[0], 4U);
    EXPECT_EQ(b.machine.device.accesses.size(), accesses) << "without side effects";

    // A changed instruction is executed: c.nop twice instead of wfi.
    const std::vector<std::uint8_t> nops{1, 0, 1, 0};
    EXPECT_EQ(b.target.write_memory(b.at("asleep"), nops), 4U);
    EXPECT_NE(b.target.describe(1).find("asleep"), std::string::npos);
    EXPECT_NE(b.target.describe(0).find("hart 0"), std::string::npos);
    EXPECT_NE(b.target.monitor("harts").find("instructions"), std::string::npos);
    EXPECT_NE(b.target.monitor("help"), "");
    EXPECT_EQ(b.target.monitor("nonsense"), "");
  });
  b.run(false);
  EXPECT_TRUE(b.machine.finished);
  EXPECT_LT(b.machine.result.time_ns, 10'000U) << "did not sleep";
}

TEST(debug, asks_while_everything_sleeps) {
  bench b;
  b.target.set_breakpoint(b.at("asleep"));
  b.expect(stop_reason::breakpoint, [&](const stop&) { b.debugger.wants = false; });
  sc_core::sc_spawn([&] {
    sc_core::wait(sc_time(50, sc_core::SC_US));
    b.debugger.wants = true;
  });
  b.expect(stop_reason::interrupted,
           [&](const stop&) {
             EXPECT_TRUE(b.machine.harts[0]->asleep());
             EXPECT_EQ(b.pc(0), b.at("awake"));
           },
           {resume_action::step, 0});
  // The step of a sleeping hart ends when it woke.
  b.expect(stop_reason::stepped, [&](const stop&) {
    EXPECT_EQ(b.pc(0), b.at("awake"));
    EXPECT_FALSE(b.machine.harts[0]->asleep());
    EXPECT_GT(sc_core::sc_time_stamp(), sc_time(200, sc_core::SC_US));
  });
  b.run(false);
  EXPECT_TRUE(b.machine.finished);
}

TEST(debug, an_interrupt_that_is_enabled_between_slices_is_taken_at_once) {
  bench b;
  b.target.set_breakpoint(b.at("awake"));
  b.expect(stop_reason::breakpoint, [&](const stop&) {
    b.target.clear_breakpoint(b.at("awake"));
    b.target.set_breakpoint(b.at("log_trap"));
    b.debugger.wants = true;
  });
  b.expect(stop_reason::interrupted, [&](const stop&) {
    EXPECT_EQ(b.pc(0), b.at("awake"));
    EXPECT_TRUE(b.target.write_register(0, debug::first_csr + 0x300, 1U << 3)) << "mstatus.MIE";
  });
  b.expect(stop_reason::breakpoint, [&](const stop&) {
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 0x342), 1ULL << 63 | 7) << "mcause";
    EXPECT_EQ(b.target.read_register(0, debug::first_csr + 0x341), b.at("awake")) << "mepc";
    EXPECT_TRUE(b.target.write_register(0, debug::pc_number, b.at("awake")));
  });
  b.run(false);
  EXPECT_TRUE(b.machine.finished);
}

TEST(debug, the_platform_may_sleep_for_ever) {
  bench b;
  b.target.set_breakpoint(b.at("awake"));
  b.expect(stop_reason::breakpoint, [&](const stop&) {
    // Nothing is due any more once this hart spins on wfi too.
    EXPECT_TRUE(b.target.write_register(0, debug::pc_number, b.at("sleeper")));
  });
  b.target.attach(&b.debugger, false);
  sc_core::sc_start();
  EXPECT_FALSE(b.machine.finished);
  EXPECT_TRUE(b.machine.harts[0]->asleep() && b.machine.harts[1]->asleep());
  EXPECT_LT(sc_core::sc_time_stamp(), sc_time(1, sc_core::SC_MS)) << "the poll does not keep the run alive";
}

TEST(debug, kill_ends_the_run_at_once) {
  bench b;
  b.target.set_breakpoint(b.at("device_write"));
  b.expect(stop_reason::breakpoint, [](const stop&) {}, {resume_action::kill, 0});
  b.run(false);
  EXPECT_FALSE(b.machine.finished);
  EXPECT_TRUE(b.machine.device.accesses.empty());
  b.expect(stop_reason::exited, [](const stop&) {});
  b.target.exited(7);
  EXPECT_EQ(b.target.exit_code(), 7);
  EXPECT_TRUE(b.debugger.script.empty());
}

}  // namespace
}  // namespace dvp::cpu::rv64
