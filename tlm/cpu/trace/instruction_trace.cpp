#include "tlm/cpu/trace/instruction_trace.h"

#include <cstdio>
#include <utility>

#include "tlm/cpu/trace/disassembly.h"
#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {

instruction_trace::instruction_trace(const std::string& path, std::uint64_t clock_hz, const core::symbol_table& symbols,
                                     address_filter filter)
    : file_(path), clock_hz_(clock_hz), symbols_(symbols), filter_(std::move(filter)) {
  file_.write("#             ns hart pc         where and what\n");
}

void instruction_trace::instruction(std::uint32_t hart, const rv64::executed_instruction& what) {
  last_unit_ = what.at_unit;
  if (!filter_.passes(what.pc)) return;
  char place[48];
  std::snprintf(place, sizeof place, " %4u 0x%08llx ", hart, static_cast<unsigned long long>(what.pc));
  file_.write(at_time(what.at_unit, clock_hz_) + place + symbols_.locate(what.pc) + ": " +
              disassemble(what.bits, what.pc, symbols_) + "\n");
}

void instruction_trace::trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
                             std::uint64_t /*handler*/) {
  if (!filter_.passes(epc)) return;
  char place[16];
  std::snprintf(place, sizeof place, " %4u ", hart);
  file_.write(at_time(last_unit_, clock_hz_) + place + trap_text(cause, epc, value, symbols_) + "\n");
}

}  // namespace dvp::cpu::trace
