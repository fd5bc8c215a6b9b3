// Which instructions a trace shows: those of some functions or of a range of addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/core/symbols.h"

namespace dvp::cpu::trace {

class address_filter {
 public:
  // Everything passes.
  address_filter() = default;
  // "0x80000000-0x800000fe", first and last, hexadecimal with 0x or without; or a function's name, with or without
  // its parameters, which means all functions of that name; or the last part of a name, behind all scopes, when it
  // fits in one scope only. std::invalid_argument with a sentence, and what may have been meant, when it is none of
  // these.
  address_filter(const std::string& text, const core::symbol_table& symbols);

  bool passes(std::uint64_t address) const {
    if (ranges_.empty()) return true;
    for (const range& r : ranges_) {
      if (address >= r.first && address <= r.last) return true;
    }
    return false;
  }

 private:
  struct range {
    std::uint64_t first;
    std::uint64_t last;
  };
  void take_addresses(const std::string& text);
  void take_functions(const std::string& text, const core::symbol_table& symbols);

  std::vector<range> ranges_;
};

}  // namespace dvp::cpu::trace
