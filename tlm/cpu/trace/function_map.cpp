#include "tlm/cpu/trace/function_map.h"

#include <algorithm>
#include <limits>

namespace dvp::cpu::trace {

const function& function_map::at(std::uint64_t address) {
  auto after = known_.upper_bound(address);
  if (after != known_.begin()) {
    const function& candidate = std::prev(after)->second;
    if (candidate.holds(address)) return candidate;
  }
  const auto& all = symbols_.all();
  const auto next = std::upper_bound(all.begin(), all.end(), address,
                                     [](std::uint64_t a, const core::symbol& s) { return a < s.address; });
  function f;
  f.end = next == all.end() ? std::numeric_limits<std::uint64_t>::max() : next->address;
  const core::symbol* symbol = symbols_.find(address);
  if (symbol != nullptr) {
    f.begin = symbol->address;
    f.name = symbol->name;
    f.has_symbol = true;
    if (symbol->bytes != 0) f.end = std::min(f.end, symbol->address + symbol->bytes);
  } else {
    if (next != all.begin()) f.begin = std::prev(next)->address + std::prev(next)->bytes;
    f.name = core::symbol_table().locate(address);
  }
  return known_.emplace(f.begin, f).first->second;
}

}  // namespace dvp::cpu::trace
