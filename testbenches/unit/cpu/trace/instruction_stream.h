// Instructions as a hart would tell them, written by hand: addresses, flow, and a cycle count that goes on by itself.
#pragma once

#include "tlm/core/symbols.h"
#include "tlm/cpu/rv64/observer.h"
#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {

using rv64::flow;

constexpr std::uint64_t timer_cause = (std::uint64_t{1} << 63) + 7, illegal_cause = 2;

class instruction_stream {
 public:
  explicit instruction_stream(rv64::observer& watcher, std::uint32_t hart = 0) : watcher_(watcher), hart_(hart) {}

  // One instruction of 4 bytes.
  instruction_stream& at(std::uint64_t pc, flow control = flow::straight, std::uint32_t cycles = 1,
                         std::uint32_t bits = 0x13) {
    rv64::executed_instruction what;
    what.pc = pc;
    what.bits = bits;
    what.bytes = 4;
    what.control = control;
    what.cycles = cycles;
    what.at_cycle = cycle;
    what.at_unit = (cycle + slept) * units_per_cycle;
    watcher_.instruction(hart_, what);
    cycle += cycles;
    return *this;
  }
  instruction_stream& trap(std::uint64_t cause, std::uint64_t epc, std::uint64_t handler, std::uint64_t value = 0) {
    watcher_.trap(hart_, cause, epc, value, handler);
    return *this;
  }

  std::uint64_t cycle = 0;
  std::uint64_t slept = 0;  // cycles, which only the time counts

 private:
  rv64::observer& watcher_;
  std::uint32_t hart_;
};

// main 0x1000, f 0x1100, g 0x1200, h 0x1300, handler 0x2000; 0x100 bytes each.
constexpr std::uint64_t main_at = 0x1000, f_at = 0x1100, g_at = 0x1200, h_at = 0x1300, handler_at = 0x2000;
inline core::symbol_table example_symbols() {
  return core::symbol_table({{main_at, 0x100, "main", true},
                             {f_at, 0x100, "f(int)", true},
                             {g_at, 0x100, "g", true},
                             {h_at, 0x100, "h", true},
                             {handler_at, 0x100, "handler", true}});
}

}  // namespace dvp::cpu::trace
