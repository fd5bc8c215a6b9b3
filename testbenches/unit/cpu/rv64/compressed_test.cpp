// Every half word that is no start of a longer instruction: illegal or not, as the manual's tables say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "testbenches/unit/cpu/rv64/flat_machine.h"

namespace dvp::cpu::rv64 {
namespace {

// A row of tables 16.5 to 16.7 of the Instruction Set Manual, volume I, 20191213, for RV64DC. Hints are legal.
struct row {
  std::uint32_t mask, match;
  std::uint32_t not_zero = 0;  // bits of which one at least is set
  std::uint32_t not_two = 0;   // a register field that does not read 2
};

constexpr std::uint32_t rd = 0x0f80, rs2 = 0x007c, immediate = 0x107c;

constexpr row legal[] = {
    // Quadrant 0
    {0xe003, 0x0000, 0x1fe0},  // c.addi4spn
    {0xe003, 0x2000},          // c.fld
    {0xe003, 0x4000},          // c.lw
    {0xe003, 0x6000},          // c.ld
    {0xe003, 0xa000},          // c.fsd
    {0xe003, 0xc000},          // c.sw
    {0xe003, 0xe000},          // c.sd
    // Quadrant 1
    {0xe003, 0x0001},                 // c.nop, c.addi
    {0xe003, 0x2001, rd},             // c.addiw
    {0xe003, 0x4001},                 // c.li
    {0xef83, 0x6101, immediate},      // c.addi16sp
    {0xe003, 0x6001, immediate, rd},  // c.lui
    {0xec03, 0x8001},                 // c.srli
    {0xec03, 0x8401},                 // c.srai
    {0xec03, 0x8801},                 // c.andi
    {0xfc63, 0x8c01},                 // c.sub
    {0xfc63, 0x8c21},                 // c.xor
    {0xfc63, 0x8c41},                 // c.or
    {0xfc63, 0x8c61},                 // c.and
    {0xfc63, 0x9c01},                 // c.subw
    {0xfc63, 0x9c21},                 // c.addw
    {0xe003, 0xa001},                 // c.j
    {0xe003, 0xc001},                 // c.beqz
    {0xe003, 0xe001},                 // c.bnez
    // Quadrant 2
    {0xe003, 0x0002},       // c.slli
    {0xe003, 0x2002},       // c.fldsp
    {0xe003, 0x4002, rd},   // c.lwsp
    {0xe003, 0x6002, rd},   // c.ldsp
    {0xf07f, 0x8002, rd},   // c.jr
    {0xf003, 0x8002, rs2},  // c.mv
    {0xffff, 0x9002},       // c.ebreak
    {0xf07f, 0x9002, rd},   // c.jalr
    {0xf003, 0x9002, rs2},  // c.add
    {0xe003, 0xa002},       // c.fsdsp
    {0xe003, 0xc002},       // c.swsp
    {0xe003, 0xe002},       // c.sdsp
};

bool is_legal(std::uint32_t bits) {
  return std::any_of(std::begin(legal), std::end(legal), [&](const row& r) {
    return (bits & r.mask) == r.match && (r.not_zero == 0 || (bits & r.not_zero) != 0) &&
           (r.not_two == 0 || (bits & r.not_two) != 2U << 7);
  });
}

TEST(compressed, exactly_the_reserved_encodings_are_illegal) {
  // Each has a place of its own, in front of a c.ebreak; registers point at memory behind all of them.
  constexpr std::uint64_t data = test::program::base + (512U << 10);
  constexpr std::uint32_t all = 1U << 16;
  test::flat_machine machine("endless");
  const auto place = [](std::uint32_t bits) { return std::uint64_t{bits} * 4; };
  for (std::uint32_t bits = 0; bits < all; ++bits) {
    const std::uint32_t words = bits | 0x9002U << 16;
    std::memcpy(machine.ram.data() + place(bits), &words, sizeof words);
  }
  ASSERT_TRUE(machine.hart.set_csr(csr::mstatus, mstatus_fs));
  unsigned illegal = 0, wrong = 0;
  for (std::uint32_t bits = 0; bits < all; ++bits) {
    if (instruction_bytes(bits) != 2) continue;
    for (unsigned number = 1; number < 32; ++number) machine.hart.set_x(number, data);
    machine.hart.set_pc(test::program::base + place(bits));
    const std::uint64_t before = machine.hart.figures().exceptions;
    ASSERT_EQ(machine.hart.run(test::flat_machine::forever, 1), slice_end::stepped) << std::hex << bits;
    std::optional<std::uint64_t> cause;
    if (machine.hart.figures().exceptions != before) cause = machine.hart.csr(csr::mcause);
    std::optional<std::uint64_t> expected;
    if (!is_legal(bits)) expected = trap_cause::illegal;
    if (bits == 0x9002) expected = trap_cause::breakpoint;
    illegal += expected == trap_cause::illegal;
    bool right = cause == expected;
    if (expected == trap_cause::illegal) {
      right = right && machine.hart.csr(csr::mtval) == bits &&
              machine.hart.csr(csr::mepc) == test::program::base + place(bits);
    }
    wrong += !right;
    EXPECT_TRUE(right || wrong > 10) << std::hex << bits << " raised " << cause.value_or(0xff);
  }
  EXPECT_EQ(wrong, 0U);
  // 2048 + 8 of quadrant 0, 64 + 1 + 31 + 128 of quadrant 1, 64 + 64 + 1 of quadrant 2.
  EXPECT_EQ(illegal, 2409U);
}

}  // namespace
}  // namespace dvp::cpu::rv64
