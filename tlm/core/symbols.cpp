#include "tlm/core/symbols.h"

#include <algorithm>
#include <cstdio>

namespace dvp::core {

symbol_table::symbol_table(std::vector<symbol> symbols) : symbols_(std::move(symbols)) {
  std::stable_sort(symbols_.begin(), symbols_.end(), [](const symbol& a, const symbol& b) {
    return a.address != b.address ? a.address < b.address : a.function > b.function;
  });
  const auto same_place = [](const symbol& a, const symbol& b) { return a.address == b.address; };
  symbols_.erase(std::unique(symbols_.begin(), symbols_.end(), same_place), symbols_.end());
}

const symbol* symbol_table::find(std::uint64_t address) const {
  auto after = std::upper_bound(symbols_.begin(), symbols_.end(), address,
                                [](std::uint64_t a, const symbol& s) { return a < s.address; });
  if (after == symbols_.begin()) return nullptr;
  const symbol& candidate = *std::prev(after);
  return candidate.bytes == 0 || address - candidate.address < candidate.bytes ? &candidate : nullptr;
}

std::string symbol_table::locate(std::uint64_t address) const {
  char text[32];
  const symbol* found = find(address);
  if (found == nullptr) {
    std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
    return text;
  }
  if (found->address == address) return found->name;
  std::snprintf(text, sizeof(text), "+0x%llx", static_cast<unsigned long long>(address - found->address));
  return found->name + text;
}

const symbol* symbol_table::named(const std::string& name) const {
  const auto found = std::find_if(symbols_.begin(), symbols_.end(), [&](const symbol& s) { return s.name == name; });
  return found == symbols_.end() ? nullptr : &*found;
}

}  // namespace dvp::core
