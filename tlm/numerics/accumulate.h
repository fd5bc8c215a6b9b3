// Group scales of a matrix product, applied outside the chains.
#pragma once

#include <cstdint>

namespace dvp::numerics {

// For groups g ascending: accumulator[v][c] = accumulator[v][c] + (scales[v][g] * chains[g][v][c]), product and sum
// rounded one after the other, NaN canonical.
//
// chains [groups][vectors][columns] as chain_products leaves them; scales [vectors][groups] already widened to
// binary32; accumulator [vectors][columns], read and written. All dense, no overlap.
void scale_accumulate(const float* chains, const float* scales, std::uint32_t groups, std::uint32_t vectors,
                      std::uint32_t columns, float* accumulator);

}  // namespace dvp::numerics
