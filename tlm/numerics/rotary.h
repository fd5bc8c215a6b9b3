// Rotary position embedding tables.
#pragma once

#include <cstdint>

namespace dvp::numerics {

struct rotation {
  float cosine = 1;
  float sine = 0;
};

// Cosine and sine of position * base^(-2 * pair / head_length), in radians.
//
// head_length: even, 2 or more; pair: below head_length / 2; base: finite, 1 or above; position: 0 to 131072.
// Computed in binary64 with our own logarithm, exponential, argument reduction and polynomials, then rounded once to
// binary32: the error is at most half a unit in the last place plus 2^-34. The same bits everywhere.
rotation rotary(std::uint32_t position, std::uint32_t pair, std::uint32_t head_length, float base);

}  // namespace dvp::numerics
