#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/unit/cpu/rv64/flat_machine.h"

namespace dvp::cpu::rv64 {
namespace {

constexpr std::uint64_t device = 0x1000'0000, refused = 0x1000'0800, nothing = 0x4000'0000, rom = 0x1000;

struct expected_trap {
  const char* at;  // symbol of the instruction
  std::uint64_t cause;
  std::uint64_t value;
};

// Causes and values by the privileged architecture, tables 3.6 and section 3.1.16; those of encodings are the
// encodings.
std::vector<expected_trap> expected(const test::program& image) {
  const std::uint64_t cell = image["cell"];
  return {{"illegal_word", 2, 0x0b},
          {"illegal_half", 2, 0},
          {"reserved_half", 2, 0x4002},
          {"environment_call", 11, 0},
          {"break_word", 3, image["break_word"]},
          {"break_half", 3, image["break_half"]},
          {"load_nothing", 5, nothing + 4},
          {"load_nothing_half", 5, nothing + 8},
          {"store_nothing", 7, nothing - 1},
          {"store_nothing_half", 7, nothing + 4},
          {"amo_nothing", 7, nothing},
          {"reserve_nothing", 5, nothing},
          {"store_rom", 7, rom + 16},
          {"load_refused", 5, refused + 2},
          {"store_refused", 7, refused + 8},
          {"amo_device", 7, device},
          {"reserve_device", 5, device},
          {"load_misaligned_device", 4, device + 1},
          {"store_misaligned_device", 6, device + 4},
          {"amo_misaligned", 6, cell + 1},
          {"reserve_misaligned", 4, cell + 1},
          {"no_such_csr", 2, 0x12302673},
          {"supervisor_csr", 2, 0x18059073},
          {"read_only_csr", 2, 0xf1459073},
          {"read_only_counter", 2, 0xc005a673},
          {"supervisor_return", 2, 0x10200073},
          {"supervisor_fence", 2, 0x12000073},
          {"float_off", 2, 0x02007053},
          {"float_load_off", 2, 0x00053007},
          {"float_half_load_off", 2, 0x2100},
          {"float_half_store_off", 2, 0xa504},
          {"float_half_pop_off", 2, 0x21c2},
          {"float_half_push_off", 2, 0xac12},
          {"float_flags_off", 2, 0x00302673},
          {"float_load_nothing", 5, nothing + 24},
          {"float_store_nothing", 7, nothing + 28},
          {"float_misaligned_device", 4, device + 2},
          {"float_rounding", 2, 0x02005053}};
}

void check_traps(const test::flat_machine& machine) {
  const std::vector<std::uint64_t> marks = machine.marks();
  std::size_t at = 0;
  std::uint64_t before = 0;
  const auto next = [&] { return at < marks.size() ? marks[at++] : 0xdead; };
  for (const expected_trap& trap : expected(machine.image)) {
    EXPECT_EQ(next(), trap.cause) << trap.at;
    EXPECT_EQ(next(), machine.image[trap.at]) << trap.at;
    EXPECT_EQ(next(), trap.value) << trap.at;
    EXPECT_EQ(next(), ++before) << trap.at << ": instructions around it";
  }
  EXPECT_EQ(next(), 0x9911223344556677U) << "misaligned load";
  EXPECT_EQ(next(), 0x1100000007667788U) << "misaligned store";
  EXPECT_EQ(next(), 0x1100000007667788U) << "floating point on";
  for (const std::uint64_t mark : {std::uint64_t{2}, machine.image["toggled"], std::uint64_t{0x2100}, before}) {
    EXPECT_EQ(next(), mark) << "off";
  }
  EXPECT_EQ(next(), 0x1100000007667788U) << "and on again";
  for (const std::uint64_t target : {nothing, device}) {
    EXPECT_EQ(next(), 1U);
    EXPECT_EQ(next(), target);
    EXPECT_EQ(next(), target);
    EXPECT_EQ(next(), ++before);
  }
  EXPECT_EQ(next(), 1U);
  EXPECT_EQ(next(), 0x800ffffeU) << "pc of the instruction whose second half is missing";
  EXPECT_EQ(next(), 0x80100000U) << "where it is missing";
  EXPECT_EQ(next(), before + 1 + 31) << "what lies before it has executed";
  EXPECT_EQ(at, marks.size());
}

TEST(trap, cause_pc_and_value_are_exact) {
  test::flat_machine machine("traps");
  machine.run_to_end();
  check_traps(machine);
  // Refused ones reach the device; misaligned and atomic ones never do.
  EXPECT_EQ(machine.log, (std::vector<std::string>{"r4 0x40000004", "r8 0x40000008", "w1 0x3fffffff = 0x7",
                                                   "w4 0x40000004 = 0x7", "w4 0x1010 = 0x7", "r2 0x10000802",
                                                   "w8 0x10000808 = 0x7", "r8 0x40000018", "w4 0x4000001c = 0x0"}));
  EXPECT_EQ(machine.hart.figures().exceptions, 42U);
  EXPECT_EQ(machine.hart.figures().refused, 9U);
}

TEST(trap, single_steps_change_nothing) {
  test::flat_machine whole("traps");
  whole.run_to_end();
  test::flat_machine steps("traps");
  EXPECT_EQ(steps.go(test::flat_machine::forever, 1), slice_end::access);
  check_traps(steps);
  EXPECT_EQ(steps.hart.now(), whole.hart.now());
  EXPECT_EQ(steps.hart.figures().instructions, whole.hart.figures().instructions);
}

TEST(trap, slices_of_one_cycle_change_nothing) {
  test::flat_machine whole("traps");
  whole.run_to_end();
  test::flat_machine slices("traps");
  EXPECT_EQ(slices.go(1), slice_end::access);
  check_traps(slices);
  EXPECT_EQ(slices.hart.now(), whole.hart.now());
  EXPECT_EQ(slices.hart.figures().instructions, whole.hart.figures().instructions);
}

}  // namespace
}  // namespace dvp::cpu::rv64
