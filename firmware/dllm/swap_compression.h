// What compression adds to the memory of a forward that goes through the NPU's address window.
//
//   store, order, activity, drift   in the window as the cache is: attention and the anchored network of every layer
//                                   read and write them
//   channels, corrections           per layer a product of its own, ffn_update, instead of gate, up and down in
//   forwards
//                                   that denoise. Needed whole, because a gather may take any row: pinned, staged where
//                                   otherwise ffn_down is, or mapped for their operator when the input moved
//   bases, lists, orders            made by the CPU, which tells of them: they are flushed before the next forward
//
// Views are no part of it: they belong to the memory, behind the window, and convert what was translated.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/dllm/compression_space.h"
#include "firmware/dllm/swap_graph.h"
#include "firmware/kernels/anchored_ffn.h"

namespace dvp::dllm {

// `graph` is that of make_graph(), `network` that of an image that has what compression asks for.
void add_compression(const gen::request_record& request, const compression_request& compression,
                     const compression_space& space, const kernels::config& model, const kernels::anchored_ffn& network,
                     swap_graph& graph);

}  // namespace dvp::dllm
