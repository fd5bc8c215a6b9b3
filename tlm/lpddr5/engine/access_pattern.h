// How the rows of regular accesses lie: what decides what they cost per byte.
#pragma once

#include <compare>
#include <cstdint>

#include "tlm/lpddr5/engine/access.h"

namespace dvp::lpddr5 {

// bytes 0: end to end, whatever their lengths; else rows of so many bytes, `stride` bytes from one to the next, of
// which about one in 2^(gap / 4) is accessed.
struct access_pattern {
  std::uint8_t precision = 8;
  bool tagged = false;
  bool write = false;
  std::uint64_t bytes = 0;
  std::uint64_t stride = 0;
  std::uint32_t gap = 0;

  friend auto operator<=>(const access_pattern&, const access_pattern&) = default;
};

// Of an access that is no block: end to end.
access_pattern pattern_of(const access& a);

}  // namespace dvp::lpddr5
