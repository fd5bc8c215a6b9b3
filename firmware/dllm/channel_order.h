// The order in which a step touches the channels of a feed-forward network: by how much they did at the anchor.
#pragma once

#include <cstdint>
#include <span>

namespace dvp::dllm {

// DAT-FFN (arXiv 2609.01084) orders channel j by |A_j| * ||W_d[:, j]||: activity times importance here, a binary32
// product compared as bf16, largest first; equal ones and then NaN by number. Every span has one element per channel;
// order becomes the channels.
void order_channels(std::span<const float> activity, std::span<const float> importance, std::span<std::uint16_t> keys,
                    std::span<std::uint32_t> spare, std::span<std::uint32_t> order);

}  // namespace dvp::dllm
