// Which function an address belongs to: a symbol's where there is one, else the stretch between two symbols.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tlm/core/symbols.h"

namespace dvp::cpu::trace {

struct function {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // behind it
  std::string name;       // of a stretch without symbol: the address it was first met at, in hexadecimal
  bool has_symbol = false;

  bool holds(std::uint64_t address) const { return address >= begin && address < end; }
};

class function_map {
 public:
  // The table outlives the map.
  explicit function_map(const core::symbol_table& symbols) : symbols_(symbols) {}

  // The same object for the same function as long as the map lives.
  const function& at(std::uint64_t address);

 private:
  const core::symbol_table& symbols_;
  std::map<std::uint64_t, function> known_;  // by begin
};

}  // namespace dvp::cpu::trace
