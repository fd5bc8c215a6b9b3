// Functions and objects of an executable by address, for traces and reports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dvp::core {

struct symbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: reaches to the next symbol
  std::string name;         // demangled
  bool function = false;
};

class symbol_table {
 public:
  symbol_table() = default;
  // In any order. Of several at one address the first function wins, else the first.
  explicit symbol_table(std::vector<symbol> symbols);

  bool empty() const { return symbols_.empty(); }
  const std::vector<symbol>& all() const { return symbols_; }  // by address
  // The symbol that holds the address; null when there is none.
  const symbol* find(std::uint64_t address) const;
  // "name+0x12", "name" at its start, "0x80001234" when no symbol holds it.
  std::string locate(std::uint64_t address) const;
  // The symbol of exactly this name; null when there is none.
  const symbol* named(const std::string& name) const;

 private:
  std::vector<symbol> symbols_;
};

}  // namespace dvp::core
