// What a hart knows of the instructions it has met, by address: price and whether they need attention.
//
// One entry per half word of a page, filled on first execution, dropped by forget(). Breakpoints are kept apart and
// marked in entries when those are filled.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

namespace dvp::cpu::rv64 {

struct code_entry {
  static constexpr std::uint32_t unknown = 1;   // not filled yet
  static constexpr std::uint32_t emulated = 2;  // the simulator must not execute it
  static constexpr std::uint32_t breakpoint = 4;
  static constexpr std::uint32_t inspected = 8;  // emulated for some operands

  std::uint32_t units = 0;
  std::uint32_t flags = unknown;
};

class code_cache {
 public:
  static constexpr std::uint64_t page_bytes = 4096;

  code_entry& at(std::uint64_t address) {
    const std::uint64_t number = address / page_bytes;
    slot& s = slots_[number % slots_.size()];
    if (s.number != number) [[unlikely]]
      refill(s, number);
    return s.entries->at((address % page_bytes) / 2);
  }

  // First addresses of the pages that have entries.
  std::vector<std::uint64_t> pages() const;
  void forget();
  // Every entry is unknown again; the pages stay, as the simulator's translations do.
  void judge_again();
  void set_breakpoint(std::uint64_t address);
  void clear_breakpoint(std::uint64_t address);
  bool breaks_at(std::uint64_t address) const { return breakpoints_.contains(address); }

 private:
  using page = std::array<code_entry, page_bytes / 2>;
  struct slot {
    std::uint64_t number = ~0ULL;
    page* entries = nullptr;
  };

  void refill(slot& s, std::uint64_t number);

  std::array<slot, 64> slots_;
  std::unordered_map<std::uint64_t, std::unique_ptr<page>> pages_;
  std::set<std::uint64_t> breakpoints_;
};

}  // namespace dvp::cpu::rv64
