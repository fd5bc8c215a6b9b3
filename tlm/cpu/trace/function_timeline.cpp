#include "tlm/cpu/trace/function_timeline.h"

#include <utility>

#include "tlm/cpu/trace/trace_text.h"

namespace dvp::cpu::trace {

namespace {

sc_core::sc_time time_of(std::uint64_t unit, std::uint64_t clock_hz) {
  return {static_cast<double>(picoseconds_of(unit, clock_hz)), sc_core::SC_PS};
}

}  // namespace

function_timeline::function_timeline(core::timeline& timeline, std::uint32_t harts, std::uint64_t clock_hz,
                                     const core::symbol_table& symbols)
    : timeline_(timeline), clock_hz_(clock_hz), harts_(harts), tracker_(symbols, *this) {
  for (std::uint32_t i = 0; i < harts; ++i) {
    harts_[i].track = timeline.track("system", "hart " + std::to_string(i) + " functions");
  }
}

void function_timeline::write(std::uint32_t track, const slice& s) {
  timeline_.slice(track, s.name, time_of(s.begin, clock_hz_), time_of(s.end, clock_hz_));
}

void function_timeline::entered(std::uint32_t hart, const activation& /*what*/, std::size_t /*depth*/,
                                std::uint64_t unit) {
  harts_[hart].open.push_back({unit, {}});
}

void function_timeline::left(std::uint32_t hart, const activation& what, std::size_t /*depth*/, std::uint64_t unit) {
  hart_track& h = harts_[hart];
  open_function gone = std::move(h.open.back());
  h.open.pop_back();
  std::vector<slice> told{{what.name(), gone.begin, unit}};
  told.insert(told.end(), gone.held.begin(), gone.held.end());
  if (!h.open.empty() && h.open.back().begin == gone.begin) {
    h.open.back().held.insert(h.open.back().held.end(), told.begin(), told.end());
  } else {
    for (const slice& s : told) write(h.track, s);
  }
}

}  // namespace dvp::cpu::trace
