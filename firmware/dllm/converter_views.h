// Tells the memory's converter how the channels of the feed-forward network are narrowed.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/dllm/compression.h"
#include "firmware/kernels/anchored_ffn.h"

namespace dvp::dllm {

// Nothing to do when no read of the run is narrowed. Sets the views of every layer's tensor ffn_views, and in `network`
// which of them stand for midpoints. Codes: ok, bad_request (the converter at converter_base does not convert, or has
// too few views), bad_image (it does not take a view, or one is of the wrong precision).
[[nodiscard]] gen::result_code set_views(const compression_request& compression, std::uint64_t converter_base,
                                         std::uint32_t layers, kernels::anchored_ffn& network);

}  // namespace dvp::dllm
