// The RV64I and Zicsr instruction words that the boot ROM needs, by the formats of the RISC-V unprivileged manual
// (chapter "RV32/64G Instruction Set Listings"). Immediates are signed and in range.
#pragma once

#include <cstdint>

namespace dvp::boot_rom {

enum class reg : std::uint32_t { zero = 0, t0 = 5, a0 = 10, a1 = 11 };

// I-type: imm[11:0] | rs1 | funct3 | rd | opcode.
constexpr std::uint32_t i_type(std::uint32_t opcode, std::uint32_t funct3, reg rd, reg rs1, std::int32_t immediate) {
  return static_cast<std::uint32_t>(immediate) << 20 | static_cast<std::uint32_t>(rs1) << 15 | funct3 << 12 |
         static_cast<std::uint32_t>(rd) << 7 | opcode;
}

// rd = pc + (immediate << 12).
constexpr std::uint32_t auipc(reg rd, std::uint32_t immediate) {
  return immediate << 12 | static_cast<std::uint32_t>(rd) << 7 | 0x17;
}
// rd = rs1 + immediate.
constexpr std::uint32_t addi(reg rd, reg rs1, std::int32_t immediate) {
  return i_type(0x13, 0, rd, rs1, immediate);
}
// rd = the 64-bit word at rs1 + immediate.
constexpr std::uint32_t ld(reg rd, reg rs1, std::int32_t immediate) {
  return i_type(0x03, 3, rd, rs1, immediate);
}
// rd = pc + 4; pc = rs1 + immediate.
constexpr std::uint32_t jalr(reg rd, reg rs1, std::int32_t immediate) {
  return i_type(0x67, 0, rd, rs1, immediate);
}
// rd = csr (csrrs rd, csr, zero).
constexpr std::uint32_t csrr(reg rd, std::uint32_t csr) {
  return i_type(0x73, 2, rd, reg::zero, static_cast<std::int32_t>(csr));
}

}  // namespace dvp::boot_rom
