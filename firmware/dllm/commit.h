// Which masked positions of a block get their token after a forward: pure rules over a block's confidences.
//
// A block has at most 64 positions. Confidences outside the set of candidates are not looked at. A NaN confidence is
// less than every number. Equal confidences go to the lower position.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/dllm/positions.h"

namespace dvp::dllm {

inline constexpr std::uint32_t most_block_length = 64;

// How many of a block's `masks` positions step `step` of `steps` commits: masks / steps, the remainder one each to the
// first steps (LLaDA, get_num_transfer_tokens).
std::uint32_t transfer_count(std::uint32_t masks, std::uint32_t steps, std::uint32_t step);

// The `count` most confident candidates; all of them when there are fewer.
position_set choose_by_count(std::span<const float> confidences, position_set candidates, std::uint32_t count);

// The candidates with a confidence above `threshold` (inclusive: or equal to it), and always the most confident one.
// Empty only when there are no candidates.
position_set choose_by_threshold(std::span<const float> confidences, position_set candidates, float threshold,
                                 bool inclusive);

// The factor rule of Fast-dLLM v1: the n most confident candidates, for the largest n with (n + 1)(1 - c_n) < factor
// (inclusive: or equal to it), c_n the n-th highest confidence; and always the most confident one. The left side grows
// with n, so the first n that fails ends the search. Products and sums are binary32. Empty only when there are no
// candidates.
//
// Wu et al., "Fast-dLLM: Training-free Acceleration of Diffusion LLM by Enabling KV Cache and Parallel Decoding"
// (arXiv 2505.22618), section 3.3 and theorem 1. The published code (get_transfer_index_dynamic) is the inclusive form;
// it also takes the least confident candidate when that one alone fails, which is not done here.
position_set choose_by_factor(std::span<const float> confidences, position_set candidates, float factor,
                              bool inclusive);

// Editing: the filled positions whose prediction is another token than theirs, with a confidence above `threshold`
// (inclusive: or equal to it). predicted and tokens by position, as the confidences.
position_set choose_edits(std::span<const float> confidences, std::span<const std::uint32_t> predicted,
                          std::span<const std::uint32_t> tokens, position_set filled, float threshold, bool inclusive);

}  // namespace dvp::dllm
