#include <gtest/gtest.h>

#include <vector>

#include "testbenches/unit/cpu/rv64/sc_machine.h"

namespace dvp::cpu::rv64 {
namespace {

using sc_core::sc_time;

TEST(two_hart, atomics_and_fence_i_hold_whatever_the_quantum) {
  std::vector<std::unique_ptr<test::sc_machine>> machines;
  std::size_t left = 0;
  for (const sc_time& quantum :
       {sc_core::SC_ZERO_TIME, sc_time(13, sc_core::SC_NS), sc_time(1, sc_core::SC_US), sc_time(1, sc_core::SC_MS)}) {
    rv64_cpu_config config;
    config.quantum = quantum;
    const std::string name = "machine" + std::to_string(left++);
    machines.push_back(std::make_unique<test::sc_machine>(name.c_str(), "two_harts", config, 2));
    machines.back()->on_finish = [&] {
      if (--left == 0) sc_core::sc_stop();
    };
  }
  sc_core::sc_start(sc_time(20, sc_core::SC_MS));
  for (const auto& machine : machines) {
    SCOPED_TRACE(machine->name());
    ASSERT_TRUE(machine->finished) << machine->harts[0]->error() << machine->harts[1]->error();
    EXPECT_EQ(machine->result.marks, (std::vector<std::uint64_t>{6000, 6000, 1, 1, 2, 2}));
    EXPECT_TRUE(machine->harts[1]->asleep());
  }
}

TEST(two_hart, one_interrupts_the_other_at_the_same_instruction_whatever_the_quantum) {
  std::vector<std::unique_ptr<test::sc_machine>> machines;
  std::size_t left = 0;
  for (const sc_time& quantum :
       {sc_core::SC_ZERO_TIME, sc_time(13, sc_core::SC_NS), sc_time(1, sc_core::SC_US), sc_time(1, sc_core::SC_MS)}) {
    rv64_cpu_config config;
    config.quantum = quantum;
    const std::string name = "machine" + std::to_string(left++);
    machines.push_back(std::make_unique<test::sc_machine>(name.c_str(), "pulled", config, 2));
    machines.back()->on_finish = [&] {
      if (--left == 0) sc_core::sc_stop();
    };
  }
  sc_core::sc_start(sc_time(5, sc_core::SC_MS));
  for (const auto& machine : machines) {
    SCOPED_TRACE(machine->name());
    ASSERT_TRUE(machine->finished) << machine->harts[0]->error() << machine->harts[1]->error();
    ASSERT_EQ(machine->result.marks.size(), 2U);
    ASSERT_EQ(machine->result.changes_ns.size(), 1U);
    EXPECT_EQ(machine->result.marks[0], machine->result.changes_ns[0] + 1 + 1) << "the next instruction, the trap";
    EXPECT_EQ(machine->result.marks, machines[0]->result.marks);
  }
}

}  // namespace
}  // namespace dvp::cpu::rv64
