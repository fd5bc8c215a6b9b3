#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "testbenches/unit/cpu/rv64/flat_machine.h"

namespace dvp::cpu::rv64 {
namespace {

constexpr std::uint64_t ones = ~0ULL;

TEST(csr, legal_values_counters_and_float_state) {
  hart_config config;
  config.id = 5;
  config.costs[work::multiply] = 7 * units_per_cycle;
  test::flat_machine machine("csrs", config);
  machine.run_to_end();
  const std::uint64_t mpp = 3U << 11;
  const std::uint64_t dirty = ones << 63 | 3U << 13 | mpp;
  const std::vector<std::uint64_t> expected{dirty | 0x88,           // mstatus: MIE, MPIE, FS, SD, MPP
                                            mpp,                    // and none of them
                                            0x888,                  // mie
                                            0x8000'0000'0000'112d,  // misa: A C D F I M
                                            ones,                   // mscratch
                                            ones - 1,               // mepc
                                            ones, ones,             // mcause, mtval
                                            0,                      // mcounteren
                                            0,                      // mip
                                            5,                      // mcountinhibit
                                            0, 0, 0,                // performance counters
                                            0, 0, 0, 5, 0,          // identification
                                            ones - 2,               // mtvec: vectored
                                            // Set, clear, by register and immediate.
                                            0xf0, 0xfc, 0xc0, 0xc3, 0xc2, 31, 5,
                                            // Written counters.
                                            0, ones, 0, 1000, 1000 + 1 + 7,
                                            // Stopped, going on, user's names: one instruction of one cycle behind.
                                            0, 0, 1, 1,
                                            3 * (1 + 7),  // time: the machine's, three per cycle
                                            // Floating-point state.
                                            1U << 13 | mpp, dirty, 2U << 13 | mpp, dirty, 0x10, dirty, 2U << 5 | 0x10};
  const std::vector<std::uint64_t> marks = machine.marks();
  ASSERT_EQ(marks.size(), expected.size());
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], expected[i]) << "mark " << i;
  EXPECT_EQ(machine.hart.figures().exceptions, 0U);
}

// The debugger's view is the program's.
TEST(csr, can_be_written_from_outside) {
  test::flat_machine machine("csrs");
  EXPECT_TRUE(machine.hart.set_csr(csr::minstret, 41));
  EXPECT_EQ(machine.hart.csr(csr::minstret), 41U);
  EXPECT_TRUE(machine.hart.set_csr(csr::mstatus, 1U << 13));
  EXPECT_TRUE(machine.hart.set_csr(csr::fcsr, 0x41));
  EXPECT_EQ(machine.hart.csr(csr::fcsr), 0x41U);
  EXPECT_EQ(machine.hart.csr(csr::fflags), 1U);
  EXPECT_FALSE(machine.hart.set_csr(csr::mhartid, 1));
  EXPECT_FALSE(machine.hart.set_csr(0x180, 1)) << "satp";
  EXPECT_EQ(machine.hart.csr(0x3a1), std::nullopt) << "odd pmpcfg";
}

}  // namespace
}  // namespace dvp::cpu::rv64
