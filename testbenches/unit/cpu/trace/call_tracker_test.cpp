// Entries and exits of streams whose call trees are known.
#include "tlm/cpu/trace/call_tracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "testbenches/unit/cpu/trace/instruction_stream.h"

namespace dvp::cpu::trace {
namespace {

// "hart cycle>name" and "hart cycle<name", with t or ! for tail calls and traps; checks nesting.
class recorder final : public call_listener {
 public:
  void entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override {
    auto& open = of(hart);
    EXPECT_EQ(depth, open.size());
    EXPECT_EQ(what.caller, open.empty() ? nullptr : open.back());
    open.push_back(what.callee);
    deepest = std::max(deepest, open.size());
    const char* how = what.how == entry::tail_call ? "t>" : what.how == entry::trap ? "!>" : ">";
    if (keeps) events.push_back(std::to_string(unit / units_per_cycle) + how + what.callee->name);
    ++entries;
  }
  void left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override {
    auto& open = of(hart);
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(what.callee, open.back());
    open.pop_back();
    EXPECT_EQ(depth, open.size());
    if (keeps) events.push_back(std::to_string(unit / units_per_cycle) + "<" + what.callee->name);
    ++exits;
  }
  std::vector<const function*>& of(std::uint32_t hart) {
    if (hart >= open_.size()) open_.resize(hart + 1);
    return open_[hart];
  }

  std::vector<std::string> events;
  bool keeps = true;
  std::size_t deepest = 0;
  std::size_t entries = 0;
  std::size_t exits = 0;

 private:
  std::vector<std::vector<const function*>> open_;
};

class calls : public testing::Test {
 protected:
  std::vector<std::string> finish() {
    tracker.finish();
    return seen.events;
  }

  core::symbol_table symbols = example_symbols();
  recorder seen;
  call_tracker tracker{symbols, seen};
  instruction_stream run{tracker};
};

using events = std::vector<std::string>;

TEST_F(calls, recursion) {
  run.at(main_at).at(main_at + 4, flow::call);
  run.at(f_at).at(f_at + 4, flow::call, 3);
  run.at(f_at).at(f_at + 4, flow::call);
  run.at(f_at).at(f_at + 4, flow::branch).at(f_at + 0x20, flow::ret);
  run.at(f_at + 8, flow::ret).at(f_at + 8, flow::ret).at(main_at + 8);
  EXPECT_EQ(finish(),
            (events{"0>main", "2>f(int)", "6>f(int)", "8>f(int)", "11<f(int)", "12<f(int)", "13<f(int)", "14<main"}));
}

TEST_F(calls, tail_call) {
  run.at(main_at, flow::call).at(f_at).at(f_at + 4, flow::jump).at(g_at, flow::branch).at(h_at, flow::ret);
  run.at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "1>f(int)", "3t>g", "4t>h", "5<h", "5<g", "5<f(int)", "6<main"}));
}

TEST_F(calls, falling_into_the_next_function) {
  run.at(main_at + 0xfc).at(f_at).at(f_at + 4, flow::call).at(g_at, flow::ret).at(f_at + 8);
  EXPECT_EQ(finish(), (events{"0>main", "1t>f(int)", "3>g", "4<g", "5<f(int)", "5<main"}));
}

TEST_F(calls, jumps_in_circles_stay_flat) {
  run.at(main_at, flow::call);
  for (int i = 0; i < 10'000; ++i) run.at(f_at, flow::jump).at(g_at, flow::jump).at(h_at, flow::jump);
  run.at(f_at, flow::ret).at(main_at + 4);
  tracker.finish();
  EXPECT_EQ(seen.deepest, 4U);
  EXPECT_EQ(seen.events[seen.events.size() - 2], "30002<f(int)");
}

TEST_F(calls, tail_call_of_a_caller_is_a_new_activation) {
  run.at(main_at, flow::call).at(f_at, flow::jump).at(main_at, flow::straight).at(main_at + 0x10, flow::ret);
  run.at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "1>f(int)", "2t>main", "4<main", "4<f(int)", "5<main"}));
}

TEST_F(calls, interrupt_between_instructions_and_at_the_target_of_a_call) {
  run.at(main_at).trap(timer_cause, main_at + 4, handler_at);
  run.at(handler_at, flow::call).at(h_at, flow::ret).at(handler_at + 4, flow::trap_return);
  run.at(main_at + 4, flow::call).trap(timer_cause, g_at, handler_at);
  run.at(handler_at, flow::trap_return).at(g_at, flow::ret).at(main_at + 8);
  EXPECT_EQ(finish(), (events{"0>main", "1!>handler", "2>h", "3<h", "4<handler", "5>g", "5!>handler", "6<handler",
                              "7<g", "8<main"}));
}

TEST_F(calls, exception) {
  // The faulting call has not called; the handler goes on behind it.
  run.at(main_at).at(main_at + 4, flow::call).trap(illegal_cause, main_at + 4, handler_at);
  run.at(handler_at, flow::trap_return).at(main_at + 8);
  EXPECT_EQ(finish(), (events{"0>main", "1!>handler", "3<handler", "4<main"}));
}

TEST_F(calls, trap_in_a_trap) {
  run.at(main_at).trap(timer_cause, main_at + 4, handler_at).at(handler_at).trap(illegal_cause, handler_at, g_at);
  run.at(g_at, flow::trap_return).at(handler_at + 4, flow::trap_return).at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "1!>handler", "1!>g", "3<g", "4<handler", "5<main"}));
}

TEST_F(calls, longjmp_leaves_what_lies_between) {
  // main calls setjmp (f), which returns, then g, which calls h, which returns to where setjmp did.
  run.at(main_at, flow::call).at(f_at, flow::ret).at(main_at + 4, flow::branch).at(main_at + 8, flow::call);
  run.at(g_at, flow::call).at(h_at, flow::ret).at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "1>f(int)", "2<f(int)", "4>g", "5>h", "6<h", "6<g", "7<main"}));
}

TEST_F(calls, return_to_nowhere_known_is_a_tail_call) {
  run.at(main_at, flow::call).at(f_at, flow::ret).at(g_at + 0x10).at(g_at + 0x14, flow::ret).at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "1>f(int)", "2t>g", "4<g", "4<f(int)", "5<main"}));
}

TEST_F(calls, code_without_symbols_is_told_by_address) {
  run.at(0x500, flow::jump).at(main_at).at(main_at + 4, flow::call).at(0x3008, flow::ret).at(main_at + 8);
  EXPECT_EQ(finish(), (events{"0>0x500", "1t>main", "3>0x3008", "4<0x3008", "5<main", "5<0x500"}));
}

TEST_F(calls, harts_have_stacks_of_their_own) {
  instruction_stream other(tracker, 3);
  run.at(main_at, flow::call);
  other.at(g_at, flow::call);
  run.at(f_at, flow::ret);
  other.at(h_at, flow::ret).at(g_at + 4);
  run.at(main_at + 4);
  EXPECT_EQ(finish(), (events{"0>main", "0>g", "1>f(int)", "1>h", "2<h", "2<f(int)", "3<main", "3<g"}));
}

TEST_F(calls, endless_recursion_is_bounded) {
  seen.keeps = false;
  for (std::size_t i = 0; i < 2 * call_tracker::most_depth + 10; ++i) run.at(f_at, flow::call);
  tracker.finish();
  EXPECT_EQ(seen.deepest, call_tracker::most_depth);
  EXPECT_EQ(seen.entries, 2 * call_tracker::most_depth + 10);
  EXPECT_EQ(seen.exits, seen.entries);
}

TEST_F(calls, any_stream_keeps_the_nesting) {
  constexpr unsigned seed = 7;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  seen.keeps = false;
  constexpr flow flows[] = {flow::straight, flow::branch, flow::jump, flow::call, flow::ret, flow::trap_return};
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t pc = (random() % 2 == 0 ? main_at : handler_at) + random() % 0x500 * 4 % 0x500;
    if (random() % 20 == 0) {
      run.trap(random() % 2 == 0 ? timer_cause : illegal_cause, pc, handler_at);
    } else {
      run.at(pc, flows[random() % 6], static_cast<std::uint32_t>(random() % 3));
    }
  }
  tracker.finish();
  EXPECT_EQ(seen.entries, seen.exits);
  EXPECT_GT(seen.entries, 100'000U);
}

}  // namespace
}  // namespace dvp::cpu::trace
