// Functions as they are entered (>) and left (<), indented by depth:
//
//   #             ns hart
//             12.500    0 > main
//             14.000    0   > fill(unsigned char*)
//             20.000    0     > memset  (tail call)
//             31.000    0     < memset
//             31.000    0   < fill(unsigned char*)
//             33.000    0   > trap_entry  (trap: machine timer interrupt at main+0x12, value 0x0)
#pragma once

#include <cstdint>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/cpu/trace/call_tracker.h"
#include "tlm/cpu/trace/output_file.h"

namespace dvp::cpu::trace {

class function_trace final : public rv64::observer, private call_listener {
 public:
  // The symbols outlive the trace. std::runtime_error when the file cannot be written.
  function_trace(const std::string& path, std::uint64_t clock_hz, const core::symbol_table& symbols);

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override {
    tracker_.instruction(hart, what);
  }
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override {
    tracker_.trap(hart, cause, epc, value, handler);
  }
  // Leaves what is active. std::runtime_error when the file could not be written whole.
  void finish();

 private:
  void entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  void left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  void line(std::uint32_t hart, char sign, const std::string& text, std::size_t depth, std::uint64_t unit);

  output_file file_;
  std::uint64_t clock_hz_;
  const core::symbol_table& symbols_;
  call_tracker tracker_;
};

}  // namespace dvp::cpu::trace
