// Which source lines the harts executed, as an lcov .info file (genhtml makes pages of it).
//
// A line counts as often as the most frequent of its instructions, a function as often as its first one. An instruction
// that faulted counts too: it was reached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/cpu/rv64/observer.h"
#include "tlm/cpu/trace/address_table.h"
#include "tlm/cpu/trace/output_file.h"
#include "tlm/cpu/trace/source_lines.h"

namespace dvp::cpu::trace {

class coverage final : public rv64::observer {
 public:
  void instruction(std::uint32_t /*hart*/, const rv64::executed_instruction& what) override { ++counts_.at(what.pc); }
  void trap(std::uint32_t /*hart*/, std::uint64_t /*cause*/, std::uint64_t /*epc*/, std::uint64_t /*value*/,
            std::uint64_t /*handler*/) override {}

  // How often the instruction at this address was executed.
  std::uint64_t count(std::uint64_t address) const { return counts_.get(address); }
  // Completes the file. Sources that `known` refuses are left out, because genhtml stops at one that it cannot open;
  // returns how many. std::runtime_error when the file could not be written whole.
  std::size_t write(output_file& out, const core::symbol_table& symbols, const source_lines& lines,
                    const std::function<bool(const std::string&)>& known) const;

 private:
  address_table<std::uint64_t> counts_;
};

}  // namespace dvp::cpu::trace
