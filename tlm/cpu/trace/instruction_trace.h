// Every instruction as a line of text:
//
//   #          ns hart pc       where and what
//          12.500    0 80000010 main+0x4: addi sp,sp,-16
//          13.000    0 trap: illegal instruction at main+0x8, value 0x0
//
// The time is that of the instruction's start. Traps are shown where their place passes the filter.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/cpu/rv64/observer.h"
#include "tlm/cpu/trace/address_filter.h"
#include "tlm/cpu/trace/output_file.h"

namespace dvp::cpu::trace {

class instruction_trace final : public rv64::observer {
 public:
  // The symbols outlive the trace. std::runtime_error when the file cannot be written.
  instruction_trace(const std::string& path, std::uint64_t clock_hz, const core::symbol_table& symbols,
                    address_filter filter = {});

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override;
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override;
  // std::runtime_error when the file could not be written whole.
  void finish() { file_.finish(); }

 private:
  output_file file_;
  std::uint64_t clock_hz_;
  const core::symbol_table& symbols_;
  address_filter filter_;
  std::uint64_t last_unit_ = 0;
};

}  // namespace dvp::cpu::trace
