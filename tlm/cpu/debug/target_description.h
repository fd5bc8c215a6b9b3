// What the server tells GDB about the machine, in the XML of the GDB manual (appendices "Target Descriptions", sections
// "RISC-V Features", "Thread List Format", "Memory Map Format").
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tlm/cpu/debug/debug_target.h"

namespace dvp::cpu::debug {

// GDB refuses addresses outside of all ranges once it knows any.
struct memory_range {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool writable = true;
};

// Registers of hart 0 that exist, all harts being alike: features org.gnu.gdb.riscv.cpu, .fpu and .csr.
std::string target_xml(target& machine);
// Thread n is hart n - 1.
std::string threads_xml(target& machine);
std::string memory_map_xml(std::span<const memory_range> memory);

}  // namespace dvp::cpu::debug
