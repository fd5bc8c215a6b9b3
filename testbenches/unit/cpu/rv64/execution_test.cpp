#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/unit/cpu/rv64/flat_machine.h"

namespace dvp::cpu::rv64 {
namespace {

// Prices that tell every kind from every sum of others, and stalls.
cost_model distinct_prices() {
  cost_model costs;
  std::uint32_t price = 300;
  for (std::uint32_t& p : costs.price) p = price += 1000 + price / 7;
  costs.load_stall = 11;
  costs.store_stall = 5;
  return costs;
}

TEST(execution, every_kind_costs_what_the_model_says) {
  hart_config config;
  config.costs = distinct_prices();
  test::flat_machine machine("execution", config);
  const auto now_at = [&](const char* symbol) {
    machine.hart.set_breakpoint(machine.image[symbol]);
    EXPECT_EQ(machine.go(), slice_end::breakpoint);
    return machine.hart.now();
  };
  const std::uint64_t begin = now_at("kinds");
  const std::uint64_t end = now_at("kinds_end");
  std::uint64_t expected = 2U * config.costs.load_stall + config.costs.store_stall;
  for (const std::uint32_t price : config.costs.price) expected += price;
  expected += config.costs[work::csr];  // two of them: the simulator's own fcsr and one that is emulated
  EXPECT_EQ(end - begin, expected);
}

TEST(execution, a_bad_price_is_named) {
  hart_config config;
  config.costs[work::float_divide] = 0;
  try {
    test::flat_machine machine("execution", config);
    FAIL();
  } catch (const std::invalid_argument& fault) {
    EXPECT_STREQ(fault.what(), "float_divide is 0 units, it must be 1 to 1048576 (256 are one cycle)");
  }
  config = {};
  config.costs.store_stall = cost_model::most_units + 1;
  EXPECT_NE(config.costs.fault(), "");
}

struct recorder final : observer {
  std::vector<executed_instruction> seen;
  std::vector<std::uint64_t> traps;
  void instruction(std::uint32_t, const executed_instruction& what) override { seen.push_back(what); }
  void trap(std::uint32_t, std::uint64_t cause, std::uint64_t, std::uint64_t, std::uint64_t) override {
    traps.push_back(cause);
  }
};

TEST(execution, an_observer_is_told_everything_once) {
  test::flat_machine plain("execution");
  plain.run_to_end();
  hart_config config;
  recorder watcher;
  test::flat_machine watched("execution", config);
  watched.hart.observe(&watcher);
  watched.run_to_end();
  EXPECT_EQ(watched.hart.now(), plain.hart.now());
  EXPECT_EQ(watched.hart.figures().instructions, plain.hart.figures().instructions);
  ASSERT_EQ(watcher.seen.size(), plain.hart.figures().instructions);
  EXPECT_TRUE(watcher.traps.empty());
  // Each starts where the one before led, at the cycle it ended.
  std::uint64_t calls = 0, returns = 0;
  for (std::size_t i = 0; i < watcher.seen.size(); ++i) {
    const executed_instruction& now = watcher.seen[i];
    calls += now.control == flow::call;
    returns += now.control == flow::ret;
    if (i == 0) continue;
    const executed_instruction& before = watcher.seen[i - 1];
    if (before.control == flow::straight) {
      EXPECT_EQ(now.pc, before.pc + before.bytes);
    }
    EXPECT_EQ(now.at_cycle, before.at_cycle + before.cycles);
  }
  EXPECT_EQ(calls, 101U);
  EXPECT_EQ(returns, 101U);
  // Code that changed is told as it is executed.
  std::uint64_t first = 0, second = 0;
  for (const executed_instruction& now : watcher.seen) {
    if (now.pc != watched.image["changing"]) continue;
    first += now.bits == 0x00150513;
    second += now.bits == 0x3e850513;
  }
  EXPECT_EQ(first, 50U);
  EXPECT_EQ(second, 50U);
}

TEST(execution, code_that_changes_is_executed_as_it_is) {
  test::flat_machine machine("execution");
  machine.run_to_end();
  EXPECT_EQ(machine.marks(), (std::vector<std::uint64_t>{50 * 1001}));
  EXPECT_EQ(machine.log, (std::vector<std::string>{"r4 0x10000000", "r8 0x10000008", "w4 0x10000004 = 0x0"}));
}

TEST(execution, a_device_adds_its_time) {
  test::flat_machine fast("execution");
  fast.run_to_end();
  test::flat_machine slow("execution");
  slow.device_units = 1000;
  slow.run_to_end();
  EXPECT_EQ(slow.hart.now(), fast.hart.now() + 3000);
  EXPECT_EQ(slow.hart.figures().device_reads, 2U);
  EXPECT_EQ(slow.hart.figures().device_writes, 2U) << "the end is one";
}

TEST(execution, memory_without_pointers_gives_the_same_answers) {
  test::flat_machine direct("execution");
  direct.run_to_end();
  hart_config config;
  config.direct_data = false;
  test::flat_machine slow("execution", config);
  slow.data_by_transaction = true;
  slow.run_to_end();
  EXPECT_EQ(slow.marks(), direct.marks());
  EXPECT_EQ(slow.hart.figures().instructions, direct.hart.figures().instructions);
  EXPECT_EQ(slow.hart.now(), direct.hart.now());
  EXPECT_GT(slow.hart.figures().device_writes, 100U);
}

TEST(execution, a_handler_that_faults_for_ever_is_reported) {
  test::flat_machine machine("endless");
  EXPECT_EQ(machine.go(), slice_end::fault);
  char origin[20];
  std::snprintf(origin, sizeof origin, "0x%llx", static_cast<unsigned long long>(machine.image["origin"]));
  EXPECT_EQ(machine.hart.fault(),
            "hart 0: its trap handler cannot go on: instruction access fault at pc 0x40000000, value "
            "0x40000000, again and again; before it came: illegal instruction at pc " +
                std::string(origin) + ", value 0x0");
  EXPECT_EQ(machine.hart.run(~0ULL), slice_end::fault) << "and stays so";
}

TEST(execution, a_handler_that_pushes_onto_no_stack_is_reported) {
  test::flat_machine machine("pushing");
  EXPECT_EQ(machine.go(), slice_end::fault);
  char pushing[20], origin[20];
  std::snprintf(pushing, sizeof pushing, "0x%llx", static_cast<unsigned long long>(machine.image["pushing"]));
  std::snprintf(origin, sizeof origin, "0x%llx", static_cast<unsigned long long>(machine.image["origin"]));
  EXPECT_EQ(machine.hart.figures().exceptions, 1U + 1 + 16);
  EXPECT_EQ(machine.hart.fault(), "hart 0: its trap handler cannot go on: store access fault at pc " +
                                      std::string(pushing) +
                                      ", value 0x3fffef08, again and again; before it came: store access fault at pc " +
                                      origin + ", value 0x40000000");
}

TEST(execution, the_same_fault_behind_some_work_is_no_repetition) {
  test::flat_machine machine("polling");
  machine.run_to_end();
  EXPECT_EQ(machine.marks(), (std::vector<std::uint64_t>{0, 0}));
  EXPECT_EQ(machine.hart.figures().exceptions, 200U);
}

}  // namespace
}  // namespace dvp::cpu::rv64
