#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "testbenches/unit/cpu/rv64/sc_machine.h"

namespace dvp::cpu::rv64 {
namespace {

using sc_core::sc_time;

constexpr std::uint64_t interrupt = 1ULL << 63;

rv64_cpu_config with_quantum(const sc_time& quantum) {
  rv64_cpu_config config;
  config.quantum = quantum;
  return config;
}

// Reads the marks in order, checking sections.
class reader {
 public:
  explicit reader(const std::vector<std::uint64_t>& marks) : marks_(marks) {}
  std::uint64_t next() { return at_ < marks_.size() ? marks_[at_++] : 0xdead; }
  void section(std::uint64_t number) { EXPECT_EQ(next(), 0x5ec0000 + number); }
  bool at_end() const { return at_ == marks_.size(); }

 private:
  const std::vector<std::uint64_t>& marks_;
  std::size_t at_ = 0;
};

// Every instruction takes one cycle of 1 ns, a trap and waking one more, a register access 5 ns behind its instruction.
void check(const test::sc_machine& machine) {
  const test::program& image = machine.image;
  reader marks(machine.result.marks);
  const std::vector<std::uint64_t>& changes = machine.result.changes_ns;
  std::size_t change = 0;
  const auto when = [&] { return change < changes.size() ? changes[change++] : 0; };

  marks.section(1);
  // The instruction that starts with the change does not see it; the next one is not executed but the handler is.
  EXPECT_EQ(marks.next(), when() + 1 + 1);
  EXPECT_EQ(marks.next(), interrupt | 7);
  marks.next();
  when();

  marks.section(2);
  EXPECT_EQ(marks.next(), 0x888U) << "mip";
  EXPECT_EQ(marks.next(), 0x888U) << "mie";
  for (const std::uint64_t cause : {11, 3, 7}) {
    marks.next();
    EXPECT_EQ(marks.next(), interrupt | cause);
    EXPECT_EQ(marks.next(), image["after_enable"]);
  }
  EXPECT_EQ(marks.next(), 0U) << "mip";

  marks.section(3);
  EXPECT_EQ(marks.next(), 11U);
  EXPECT_EQ(marks.next(), 3U);
  EXPECT_EQ(marks.next(), 7U);
  EXPECT_EQ(marks.next(), 0xeU);
  EXPECT_EQ(marks.next(), image["vectored_call"]);

  marks.section(4);
  marks.next();
  EXPECT_EQ(marks.next(), interrupt | 11);
  EXPECT_EQ(marks.next(), image["after_mie"]);

  marks.section(5);
  EXPECT_EQ(marks.next(), 7U);
  EXPECT_EQ(marks.next() & 0x1888, 0x1880U) << "MIE off, MPIE on, MPP machine";
  EXPECT_EQ(marks.next(), 11U);
  EXPECT_EQ(marks.next(), image["inside"]);
  EXPECT_EQ(marks.next() & 0x1888, 0x1880U);

  marks.section(6);
  EXPECT_EQ(marks.next(), image["after_raise"]);
  EXPECT_EQ(marks.next(), image["after_raise"]) << "mret and the interrupt behind it execute nothing in between";

  marks.section(7);
  // Changes: two a piece in sections 2 to 6 (3, 3, 1, 2, 1 lines).
  change = 2 + 2 * (3 + 3 + 1 + 2 + 1);
  EXPECT_EQ(marks.next(), when() + 1) << "woken with the change, going on one cycle later";
  EXPECT_EQ(marks.next(), 1 + 1 + 1 + 1U) << "mcycle: itself, wfi, waking, the reading of time";
  EXPECT_EQ(marks.next(), 1 + 1 + 1 + 2U) << "minstret: itself, the reading of mcycle, wfi, two reads";
  EXPECT_EQ(marks.next(), 2U) << "a wfi that does not sleep";
  when();

  marks.section(8);
  when();  // external: enabled nowhere
  EXPECT_EQ(marks.next(), when() + 1 + 1) << "waking and the trap";
  EXPECT_EQ(marks.next(), interrupt | 7);
  EXPECT_EQ(marks.next(), image["after_wfi"]);
  const std::uint64_t time = marks.next();
  EXPECT_EQ(time / 1000, machine.result.time_ns / 1000);
  EXPECT_EQ(marks.next() + 6, machine.result.instructions[0]) << "the reading itself, mark and finish are behind it";
  EXPECT_TRUE(marks.at_end());
}

// Steps for ever, or goes on from every breakpoint.
struct tireless_debugger final : debug::server {
  debug::resume_action action = debug::resume_action::run;
  std::uint64_t stops = 0;
  debug::resume stopped(const debug::stop&) override {
    ++stops;
    return {action, 0};
  }
  bool wants_stop() override { return false; }
};

struct counter final : observer {
  std::uint64_t instructions = 0;
  std::uint64_t traps = 0;
  std::uint64_t cycles = 0;
  void instruction(std::uint32_t, const executed_instruction& what) override {
    ++instructions;
    cycles += what.cycles;
  }
  void trap(std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t) override { ++traps; }
};

// One kernel, several machines; each ends by itself.
class machines {
 public:
  test::sc_machine& add(const sc_time& quantum) {
    const std::string name = "machine" + std::to_string(all_.size());
    all_.push_back(std::make_unique<test::sc_machine>(name.c_str(), "interrupts", with_quantum(quantum)));
    all_.back()->on_finish = [this] {
      if (--left_ == 0) sc_core::sc_stop();
    };
    ++left_;
    return *all_.back();
  }
  void run_and_check() {
    sc_core::sc_start(sc_time(300, sc_core::SC_US));
    for (const auto& machine : all_) {
      SCOPED_TRACE(machine->name());
      ASSERT_TRUE(machine->finished) << machine->harts[0]->error();
      check(*machine);
      EXPECT_TRUE(machine->result == all_[0]->result);
    }
  }

 private:
  std::vector<std::unique_ptr<test::sc_machine>> all_;
  std::size_t left_ = 0;
};

TEST(interrupt, are_exact_whatever_the_quantum) {
  machines all;
  all.add(sc_core::SC_ZERO_TIME);
  all.add(sc_time(7, sc_core::SC_NS));
  all.add(sc_time(1, sc_core::SC_US));
  all.add(sc_time(1, sc_core::SC_MS));
  test::sc_machine& told = all.add(sc_time(1, sc_core::SC_MS));
  std::uint64_t questions = 0;
  told.harts[0]->forecast_timer([&] {
    ++questions;
    return told.device.next_rise(1);
  });
  all.run_and_check();
  EXPECT_GT(questions, 0U);
  EXPECT_LT(questions, 50U) << "it runs through what the other machines do";
}

TEST(interrupt, are_exact_whoever_watches) {
  machines all;
  all.add(sc_time(1, sc_core::SC_US));

  test::sc_machine& stepped = all.add(sc_time(1, sc_core::SC_US));
  tireless_debugger stepper;
  stepper.action = debug::resume_action::step;
  stepped.cluster->attach(&stepper, true);

  test::sc_machine& broken = all.add(sc_time(1, sc_core::SC_US));
  tireless_debugger runner;
  broken.cluster->attach(&runner, false);
  for (std::uint64_t address = test::program::base; address < broken.image["marks"]; address += 2) {
    broken.cluster->set_breakpoint(address);
  }

  test::sc_machine& watched = all.add(sc_time(1, sc_core::SC_US));
  tireless_debugger watcher;
  watched.cluster->attach(&watcher, false);
  watched.cluster->set_watchpoint(debug::watch::access, watched.image["marks"], 4096);

  test::sc_machine& observed = all.add(sc_time(1, sc_core::SC_US));
  counter seen;
  observed.cluster->observe(&seen);
  observed.end.ended = [&, told = observed.end.ended](std::uint32_t code) {
    const hart_figures& f = observed.harts[0]->core().figures();
    // All that completed, and the ecall.
    EXPECT_EQ(seen.instructions, f.instructions + 1);
    EXPECT_EQ(seen.traps, f.exceptions + f.interrupts);
    observed.cluster->observe(nullptr);
    told(code);
  };
  all.run_and_check();
  EXPECT_GT(stepper.stops, stepped.result.instructions[0]) << "and once per interrupt and at the start";
  EXPECT_GT(runner.stops, broken.result.instructions[0] - 1);
  EXPECT_EQ(watcher.stops, watched.result.marks.size());
}

}  // namespace
}  // namespace dvp::cpu::rv64
