// The operators of one transformer layer, computed by the CPU for the rows of a tile, and what comes before and after
// the layers. What they cost is told by cpu_cost.h.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/kernels/cpu_forward.h"
#include "firmware/kernels/cpu_product.h"

namespace dvp::kernels {

// A pass in work.
struct cpu_pass {
  const config& model;
  const weights& w;
  const kv_cache& cache;
  const cpu_workspace& space;
  const cpu_rows& rows;
  cpu_buffers parts;
};

// Some of its rows, at most a tile.
struct cpu_tile {
  std::uint32_t first = 0;  // of the pass's rows
  std::uint32_t rows = 0;
};

// What the operators share.
inline float* residual_row(const cpu_pass& pass, std::uint32_t row) {
  return pass.parts.residual + std::uint64_t{row} * pass.model.width;
}
inline panels normed_rows(const cpu_pass& pass, const cpu_tile& tile) {
  return {.elements = pass.parts.normed, .rows = tile.rows, .reduction = pass.model.width};
}
// A row of an fp32 tensor.
const float* floats(const tensor& t, std::uint32_t row = 0);
// projected = x * weight + bias, row-major; the bias with qkv_bias only.
void project(const cpu_pass& pass, const tensor& weight, const tensor& bias, const panels& x);
// residual += x * weight.
void add_product(const cpu_pass& pass, const tensor& weight, const panels& x, const cpu_tile& tile);

// Where the new keys or values of a layer begin: [rows of the workspace][kv_width].
std::uint64_t new_rows(const config& model, const cpu_workspace& space, std::uint32_t layer);

// residual = embeddings of the tile's tokens.
void cpu_embed(const cpu_pass& pass, const cpu_tile& tile);

// normed = rms_norm(residual).
void cpu_normalise(const cpu_pass& pass, const tensor& weight, const cpu_tile& tile);

// The normalised rows' new keys and values, into the workspace.
void cpu_keys_values(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);

// residual += output_projection(softmax(q k / sqrt(head_length)) v). The new keys and values of all rows of the pass
// are there: in the cache, or with kept layers in the workspace.
void cpu_attend(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);

// residual += down(silu(gate(normed)) * up(normed)).
void cpu_feed_forward(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);

// Token and confidence of the normalised rows.
void cpu_sample(const cpu_pass& pass, const cpu_tile& tile, std::span<gen::sample_record> records);

}  // namespace dvp::kernels
