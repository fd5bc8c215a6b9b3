// Which masked positions of a block get their token after a forward: pure rules over a block's confidences.
//
// A block has at most 64 positions; a set of positions is a word, bit i for position i. Confidences outside the set of
// candidates are not looked at. A NaN confidence is less than every number. Equal confidences go to the lower position.
#pragma once

#include <cstdint>
#include <span>

namespace dvp::dllm {

inline constexpr std::uint32_t most_block_length = 64;

using position_set = std::uint64_t;

// Positions [first, first + count); first + count at most 64.
constexpr position_set positions(std::uint32_t first, std::uint32_t count) {
  const position_set low = count == 64 ? ~position_set{0} : (position_set{1} << count) - 1;
  return count == 0 ? 0 : low << first;
}

// How many of a block's `masks` positions step `step` of `steps` commits: masks / steps, the remainder one each to the
// first steps (LLaDA, get_num_transfer_tokens).
std::uint32_t transfer_count(std::uint32_t masks, std::uint32_t steps, std::uint32_t step);

// The `count` most confident candidates; all of them when there are fewer.
position_set choose_by_count(std::span<const float> confidences, position_set candidates, std::uint32_t count);

// The candidates with a confidence above `threshold` (inclusive: or equal to it), and always the most confident one.
// Empty only when there are no candidates.
position_set choose_by_threshold(std::span<const float> confidences, position_set candidates, float threshold,
                                 bool inclusive);

}  // namespace dvp::dllm
