// What compression adds to the memory of a forward: the store of finished positions, which attention reads as it reads
// the cache, and per layer the channels of the anchored network with their corrections, which come instead of gate, up
// and down in the forwards that denoise.
#pragma once

#include <cstdint>

#include "firmware/dllm/compression_space.h"
#include "firmware/dllm/swap_graph.h"
#include "firmware/kernels/anchored_ffn.h"

namespace dvp::dllm {

// `graph` is that of make_graph(), `network` that of an image that has what compression asks for. sub_blocks: of a
// block; as many forwards denoise it at least, and one more stores it.
void add_compression(const compression_request& compression, const compression_space& space,
                     const kernels::config& model, const kernels::anchored_ffn& network, std::uint32_t sub_blocks,
                     swap_graph& graph);

}  // namespace dvp::dllm
