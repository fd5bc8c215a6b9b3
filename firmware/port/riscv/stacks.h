// The stacks of every hart. Below each lies a page that nothing may touch, so that an overflow traps at once; the trap
// handler has a stack of its own and can report it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/port/riscv/hart_layout.h"
#include "firmware/port/riscv/memory_map.h"

namespace dvp::port {

struct alignas(page_bytes) hart_stacks {
  std::byte trap_guard[page_bytes];
  std::byte trap_stack[2 * page_bytes];
  std::byte guard[page_bytes];
  std::byte stack[15 * page_bytes];
};

extern "C" hart_stacks stacks[HART_COUNT];

inline bool inside(std::uint64_t wanted, const std::byte* first, std::size_t bytes) {
  return wanted - address(first) < bytes;
}

}  // namespace dvp::port
