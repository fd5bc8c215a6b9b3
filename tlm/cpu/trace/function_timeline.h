// Functions as slices of a timeline, one track per hart, beside those of the other blocks.
//
// A function that is still active when the timeline is closed does not show.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/core/symbols.h"
#include "tlm/core/timeline.h"
#include "tlm/cpu/trace/call_tracker.h"

namespace dvp::cpu::trace {

class function_timeline final : public rv64::observer, private call_listener {
 public:
  // Timeline and symbols outlive this. Tracks are "hart 0 functions" ... in process "system".
  function_timeline(core::timeline& timeline, std::uint32_t harts, std::uint64_t clock_hz,
                    const core::symbol_table& symbols);

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override {
    if (timeline_.on()) tracker_.instruction(hart, what);
  }
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override {
    if (timeline_.on()) tracker_.trap(hart, cause, epc, value, handler);
  }
  // The run ended: shows what is active as ending now.
  void finish() { tracker_.finish(); }

 private:
  struct slice {
    std::string name;
    std::uint64_t begin = 0;  // units
    std::uint64_t end = 0;
  };
  struct open_function {
    std::uint64_t begin = 0;
    std::vector<slice> held;  // that began with it: the timeline wants the outer one first
  };
  struct hart_track {
    std::uint32_t track = 0;
    std::vector<open_function> open;
  };

  void entered(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  void left(std::uint32_t hart, const activation& what, std::size_t depth, std::uint64_t unit) override;
  void write(std::uint32_t track, const slice& s);

  core::timeline& timeline_;
  std::uint64_t clock_hz_;
  std::vector<hart_track> harts_;
  call_tracker tracker_;
};

}  // namespace dvp::cpu::trace
