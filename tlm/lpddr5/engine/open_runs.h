// Reads that follow each other regularly, several such runs at a time: weights, their scales and the next descriptors
// are read in turn, and each goes on where it stopped.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {

// How the reads of a run follow each other. bytes 0: end to end, whatever their lengths; else rows of so many bytes,
// each beginning `stride` bytes behind the one before, a row in one read or in several end to end.
struct run_pattern {
  std::uint8_t precision = 8;
  bool tagged = false;
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;

  friend auto operator<=>(const run_pattern&, const run_pattern&) = default;
};

class open_runs {
 public:
  struct run {
    run_pattern pattern;
    std::uint64_t length = 0;  // bytes read so far
    std::uint64_t row = 0;     // where the row of the last read begins
    std::uint64_t end = 0;     // of the last read
    std::uint64_t used = 0;    // when it was extended; 0: there is none
  };

  // The run that the read extends. One that no open run explains begins one, in the place of the run that was extended
  // longest ago; a read that leaves a gap behind a short run makes that a row, and the distance the stride.
  const run& extend(const access& a) {
    run* found = nullptr;
    run* oldest = runs_.data();
    for (run& each : runs_) {
      if (each.used < oldest->used) oldest = &each;
      if (each.used == 0 || each.pattern.precision != a.precision || each.pattern.tagged != a.tagged) continue;
      if (goes_on(each, a)) {
        found = &each;
        break;
      }
      if (found == nullptr && may_be_next_row(each, a)) found = &each;
    }
    ++clock_;
    if (found != nullptr && clock_ - found->used > most_between) found->length = 0;
    if (found == nullptr) {
      found = oldest;
      *found = {.pattern = {a.precision, a.tagged, 0, 0}, .row = a.address};
    } else if (!goes_on(*found, a)) {
      found->pattern.bytes = found->end - found->row;
      found->pattern.stride = a.address - found->row;
    }
    if (found->pattern.bytes != 0 && a.address == found->row + found->pattern.stride) found->row = a.address;
    found->length += a.bytes;
    found->end = a.address + a.bytes;
    found->used = clock_;
    return *found;
  }

 private:
  // With more reads of others between two of its own a run begins anew: what it costs to go from one to the other is no
  // longer small.
  static constexpr std::uint64_t most_between = 16;
  // Longer rows cost what sequential reads cost, and farther apart nobody reads regularly on purpose.
  static constexpr std::uint64_t longest_row = std::uint64_t{1} << 12;
  static constexpr std::uint64_t longest_stride = std::uint64_t{1} << 17;

  static bool goes_on(const run& r, const access& a) {
    if (r.pattern.bytes == 0) return a.address == r.end;
    const std::uint64_t row_end = r.row + r.pattern.bytes;
    if (r.end == row_end) return a.address == r.row + r.pattern.stride && a.bytes <= r.pattern.bytes;
    return a.address == r.end && a.address + a.bytes <= row_end;
  }
  static bool may_be_next_row(const run& r, const access& a) {
    const std::uint64_t row = r.end - r.row;
    return r.pattern.bytes == 0 && row <= longest_row && a.bytes <= row && a.address > r.end &&
           a.address - r.row <= longest_stride;
  }

  std::array<run, 8> runs_{};
  std::uint64_t clock_ = 0;
};

}  // namespace dvp::lpddr5
