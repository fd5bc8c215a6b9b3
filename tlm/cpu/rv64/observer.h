// What a hart tells those who watch it execute: traces, profiles, coverage.
//
// Watching changes neither instructions nor simulated time; without an observer nothing of it costs host time.
#pragma once

#include <cstdint>

namespace dvp::cpu::rv64 {

// What an instruction does to the flow of control, by the calling convention of the RISC-V ABI.
enum class flow : std::uint8_t {
  straight,  // goes on behind itself
  branch,    // conditional
  jump,      // jal and jalr without link
  call,      // jal and jalr that link ra or t0
  ret,       // jalr through ra or t0 without link
  trap_return,
};

struct executed_instruction {
  std::uint64_t pc = 0;
  std::uint32_t bits = 0;  // 16-bit instructions in the low half
  std::uint8_t bytes = 0;  // 2 or 4
  flow control = flow::straight;
  std::uint32_t cycles = 0;    // that the cost model charges
  std::uint64_t at_cycle = 0;  // of the hart, before this instruction; sleep is not counted
  std::uint64_t at_unit = 0;   // the same as time: 1/256 cycles since the start of simulation, with sleep
};

class observer {
 public:
  // Before the instruction changes anything. One that faults is told too, followed by trap().
  virtual void instruction(std::uint32_t hart, const executed_instruction& what) = 0;
  // The hart enters its trap handler: mcause, mepc, mtval; `handler` is the first address executed there.
  virtual void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
                    std::uint64_t handler) = 0;

 protected:
  ~observer() = default;
};

}  // namespace dvp::cpu::rv64
