// What the traces write alike: simulated time and traps.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/core/symbols.h"

namespace dvp::cpu::trace {

// What the time of an instruction is counted in (rv64::executed_instruction::at_unit).
inline constexpr std::uint32_t units_per_cycle = 256;

// Rounded down.
std::uint64_t picoseconds_of(std::uint64_t unit, std::uint64_t clock_hz);

// A time in nanoseconds with three decimals, rounded down to a picosecond, right-aligned to 16 columns.
std::string at_time(std::uint64_t unit, std::uint64_t clock_hz);

// Of mcause: "illegal instruction", "machine timer interrupt", "cause 24", "interrupt 20". Source: RISC-V Privileged
// Architecture 1.12, table 3.6.
std::string cause_name(std::uint64_t cause);

// "trap: load access fault at main+0x12, value 0x0": where it came from and mtval.
std::string trap_text(std::uint64_t cause, std::uint64_t epc, std::uint64_t value, const core::symbol_table& symbols);

}  // namespace dvp::cpu::trace
