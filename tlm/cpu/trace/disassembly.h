// Instructions as text, the way GNU objdump writes them for riscv:rv64gc.
//
// RV64IMAFDC with Zicsr and Zifencei; the usual short forms (li, mv, ret, beqz, csrr ...) are used and compressed
// instructions look like those they stand for. What is none of these becomes ".4byte 0x12345678" or ".2byte 0x1234".
#pragma once

#include <cstdint>
#include <string>

#include "tlm/core/symbols.h"

namespace dvp::cpu::trace {

// The low half of `bits` for a 16-bit instruction. Jump and branch targets by symbol, where one holds them.
std::string disassemble(std::uint32_t bits, std::uint64_t pc, const core::symbol_table& symbols);

}  // namespace dvp::cpu::trace
