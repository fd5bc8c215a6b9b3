// Which harts the debugger lets run and how far, in terms of what a target can do: run all, or step one.
//
// A target cannot run some harts while others stand still, nor step over a range of addresses; both are done by
// repeated steps. When a debugger steps one hart and continues the others, that hart is stepped.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tlm/cpu/debug/debug_target.h"
#include "tlm/cpu/debug/point_set.h"

namespace dvp::cpu::debug {

class run_plan {
 public:
  // All harts, until something stops them.
  run_plan() = default;
  // One instruction of this hart.
  static run_plan step(std::uint32_t hart);
  // This hart alone, until something stops it.
  static run_plan only(std::uint32_t hart);
  // The actions of vCont, from the first ";" on: c, s, r and C, S, whose signals mean nothing to a bare machine. Where
  // all harts are told to step, `current` does. Nothing when that is malformed or names no hart of the machine.
  static std::optional<run_plan> parse(std::string_view actions, std::uint32_t harts, std::uint32_t current);

  resume first() const;
  // After a hart stepped: the next step, or nothing when the debugger is to be told, of `why`, which becomes a
  // breakpoint where one stands.
  std::optional<resume> next(stop& why, target& machine, const point_set& points) const;

 private:
  enum class extent : std::uint8_t { unlimited, one_step, range };

  std::vector<std::uint32_t> harts_;  // that run, in ascending order; empty: all
  extent extent_ = extent::unlimited;
  std::uint64_t begin_ = 0;  // of the range
  std::uint64_t end_ = 0;    // behind it
};

}  // namespace dvp::cpu::debug
