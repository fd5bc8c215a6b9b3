#include "tlm/cpu/rv64/code_cache.h"

namespace dvp::cpu::rv64 {

void code_cache::refill(slot& s, std::uint64_t number) {
  std::unique_ptr<page>& entries = pages_[number];
  if (!entries) entries = std::make_unique<page>();
  s = {number, entries.get()};
}

std::vector<std::uint64_t> code_cache::pages() const {
  std::vector<std::uint64_t> found;
  for (const auto& [number, entries] : pages_) found.push_back(number * page_bytes);
  return found;
}

void code_cache::forget() {
  slots_.fill({});
  pages_.clear();
}

void code_cache::judge_again() {
  for (const auto& [number, entries] : pages_) entries->fill({});
}

void code_cache::set_breakpoint(std::uint64_t address) {
  breakpoints_.insert(address);
  at(address).flags |= code_entry::breakpoint;
}

void code_cache::clear_breakpoint(std::uint64_t address) {
  breakpoints_.erase(address);
  at(address).flags &= ~code_entry::breakpoint;
}

}  // namespace dvp::cpu::rv64
