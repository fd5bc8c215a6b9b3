// Who called whom, from the frame pointers that -fno-omit-frame-pointer leaves.
//
// By the RISC-V ABI, s0 holds the stack address at the function's entry; the word below it is the return address and
// the one below that the caller's s0. A function that calls nobody stores only the caller's s0, right below; one
// without a frame, or in its first instructions, stores nothing yet. Both still have their return address in ra.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "firmware/port/riscv/symbols.h"

namespace dvp::port {

struct stopped_at {
  std::uint64_t pc;
  std::uint64_t ra;
  std::uint64_t s0;
};

struct stack_range {
  std::uint64_t first;
  std::uint64_t end;
};

// Fills `callers` with return addresses, the innermost first, and returns how many there are: as many as the span holds
// when there may be more. Reads nothing but words of the stack and code of the table's range, so that a ruined stack
// ends the list and does no harm.
std::size_t backtrace(const symbol_table& symbols, const stopped_at& where, const stack_range& stack,
                      std::span<std::uint64_t> callers);

}  // namespace dvp::port
