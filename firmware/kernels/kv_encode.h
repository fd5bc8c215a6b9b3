// Rows in work into the compressed cache, as entries behind those that are there.
#pragma once

#include <cstdint>

#include "firmware/kernels/layer.h"
#include "firmware/kernels/run_state.h"

namespace dvp::kernels {

// Whole heads of the rows' keys before rotation, or of their values: fp32 [rows][head_length] each, side by side from
// KV head `first` on. With gram, their bf16 outer products join the layer's Gram matrices.
void encode_heads(const config& model, std::uint32_t layer, kv_half half, std::uint32_t first, std::uint32_t heads,
                  const matrix& numbers, std::uint32_t rows, bool gram, run_state& state);

// Codes and terms of all heads, once they are encoded, to main memory.
void store_entries(const config& model, std::uint32_t layer, std::uint32_t rows, run_state& state);

}  // namespace dvp::kernels
