// The breakpoints and watchpoints a debugger holds, so that they can be told apart and all be taken back.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>

#include "tlm/cpu/debug/debug_target.h"

namespace dvp::cpu::debug {

class point_set {
 public:
  explicit point_set(target& machine) : machine_(machine) {}

  // GDB's types of points: 0 and 1 are breakpoints, 2, 3 and 4 watch writes, reads and both.
  static constexpr std::uint64_t software_breakpoint = 0, hardware_breakpoint = 1, write_watchpoint = 2,
                                 read_watchpoint = 3, access_watchpoint = 4;

  // Setting one that is set and clearing one that is not change nothing. False for an unknown type, and for a
  // watchpoint of no bytes or beyond the address space.
  bool set(std::uint64_t type, std::uint64_t address, std::uint64_t bytes);
  bool clear(std::uint64_t type, std::uint64_t address, std::uint64_t bytes);
  void clear_all();

  bool breaks_at(std::uint64_t address) const;
  bool has_hardware_breakpoint(std::uint64_t address) const {
    return points_.contains({hardware_breakpoint, address, 0});
  }
  // The type of a watchpoint that covers the address; access_watchpoint when there is none.
  std::uint64_t watching(std::uint64_t address) const;

 private:
  using point = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // type, address, bytes (breakpoints: 0)

  void clear(const point& p);

  target& machine_;
  std::set<point> points_;
};

}  // namespace dvp::cpu::debug
