// Reads that follow each other end to end, several such runs at a time: each goes on where it stopped.
#pragma once

#include <array>
#include <cstdint>

#include "tlm/lpddr5/engine/access.h"

namespace dvp::lpddr5 {

class open_runs {
 public:
  // Bytes read so far by the run that the read extends, it included. One that no open run explains begins one, in the
  // place of the run that was extended longest ago.
  std::uint64_t extend(const access& a) {
    run* found = nullptr;
    run* oldest = runs_.data();
    for (run& each : runs_) {
      if (each.used < oldest->used) oldest = &each;
      const bool goes_on = each.used != 0 && each.precision == a.precision && each.tagged == a.tagged;
      if (!goes_on || a.address != each.end) continue;
      found = &each;
      break;
    }
    ++clock_;
    if (found != nullptr && clock_ - found->used > most_between) found->length = 0;
    if (found == nullptr) {
      found = oldest;
      *found = {.precision = a.precision, .tagged = a.tagged};
    }
    found->length += a.bytes;
    found->end = a.address + a.bytes;
    found->used = clock_;
    return found->length;
  }

 private:
  // With more reads of others between two of its own a run begins anew: what it costs to go from one to the other is no
  // longer small.
  static constexpr std::uint64_t most_between = 16;

  struct run {
    std::uint8_t precision = 8;
    bool tagged = false;
    std::uint64_t length = 0;  // bytes read so far
    std::uint64_t end = 0;     // of the last read
    std::uint64_t used = 0;    // when it was extended; 0: there is none
  };

  std::array<run, 8> runs_{};
  std::uint64_t clock_ = 0;
};

}  // namespace dvp::lpddr5
