#include "firmware/kernels/cpu_cost.h"

#include <algorithm>

#include "firmware/hal/hal.h"

namespace dvp::kernels {
namespace {

// `rows` up to the next whole block.
constexpr std::uint32_t whole_blocks(std::uint32_t rows) {
  return (rows + cpu_block_rows - 1) / cpu_block_rows * cpu_block_rows;
}

// Of `rows` rows with the whole weight matrix.
void spend_product(const tensor& weight, std::uint32_t rows) {
  const std::uint64_t products = std::uint64_t{whole_blocks(rows)} * weight.rows;
  hal::spend(hal::work::mac, products * weight.columns, weight.data, weight.rows * element_bytes(weight), false,
             gen::purpose::weights);
  if (weight.format == gen::tensor_format::q8_group32) {
    hal::spend(hal::work::mac, products * (weight.columns / weight_group), weight.scales,
               weight.rows * scale_bytes(weight), false, gen::purpose::scales);
  }
}

// A row function over `elements` whose parameters are rows [first, first + rows) of a tensor.
void spend_elements(std::uint64_t elements, const tensor& beside, std::uint32_t first = 0, std::uint32_t rows = 1) {
  hal::spend(hal::work::element, elements, beside.data + std::uint64_t{first} * beside.row_bytes,
             rows * element_bytes(beside), false, gen::purpose::parameters);
}

void spend_projection(const cpu_pass& pass, const tensor& weight, const tensor& bias, const cpu_tile& tile) {
  spend_product(weight, tile.rows);
  if (pass.model.qkv_bias) {
    spend_elements(std::uint64_t{tile.rows} * weight.rows, bias);
  }
}

void spend_added_product(const tensor& weight, const cpu_tile& tile) {
  spend_product(weight, tile.rows);
  hal::spend(hal::work::element, std::uint64_t{tile.rows} * weight.rows);
}

void spend_rotation(const cpu_pass& pass, const cpu_tile& tile, std::uint32_t n) {
  spend_elements(std::uint64_t{tile.rows} * n, pass.w.rope_table, pass.rows.positions[tile.first], tile.rows);
}

void spend_attention(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const config& m = pass.model;
  const std::uint64_t rows = std::uint64_t{tile.rows} * m.heads;
  const std::uint64_t products =
      std::uint64_t{m.kv_heads} * whole_blocks(m.heads_per_kv() * tile.rows) * pass.rows.keys * m.head_length;
  const std::uint64_t bytes = kv_cache::element_bytes * m.kv_width() * pass.rows.keys;
  hal::spend(hal::work::mac, products, pass.cache.keys(m, layer, 0, 0), bytes, false, gen::purpose::prefix_kv);
  hal::spend(hal::work::element, rows * pass.rows.keys);
  hal::spend(hal::work::mac, products, pass.cache.values(m, layer, 0, 0), bytes, false, gen::purpose::prefix_kv);
  if (pass.space.kept_layers != 0) {
    hal::spend(hal::work::copy, 2 * bytes);
  }
  hal::spend(hal::work::element, rows * m.head_length);
}

}  // namespace

void spend_embed(const cpu_pass& pass, const cpu_tile& tile) {
  const tensor& table = pass.w.embedding;
  // As many rows of the table as the tile has, wherever they are.
  const std::uint64_t rows = std::min(tile.rows, table.rows);
  hal::spend(hal::work::element, std::uint64_t{tile.rows} * pass.model.width, table.data, rows * element_bytes(table),
             false, gen::purpose::embedding);
  if (table.format == gen::tensor_format::q8_group32) {
    hal::spend(hal::work::element, 0, table.scales, rows * scale_bytes(table), false, gen::purpose::embedding);
  }
}

void spend_normalise(const cpu_pass& pass, const tensor& weight, const cpu_tile& tile) {
  spend_elements(std::uint64_t{tile.rows} * pass.model.width, weight);
}

void spend_keys_values(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const layer_weights& l = pass.w.layers[layer];
  const std::uint32_t n = pass.model.kv_width();
  spend_projection(pass, l.attn_k, l.attn_k_bias, tile);
  spend_rotation(pass, tile, n);
  spend_projection(pass, l.attn_v, l.attn_v_bias, tile);
  hal::spend(hal::work::element, std::uint64_t{tile.rows} * n);
}

void spend_attend(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const layer_weights& l = pass.w.layers[layer];
  spend_projection(pass, l.attn_q, l.attn_q_bias, tile);
  spend_rotation(pass, tile, pass.model.query_width());
  spend_attention(pass, layer, tile);
  spend_added_product(l.attn_output, tile);
}

void spend_feed_forward(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const layer_weights& l = pass.w.layers[layer];
  spend_product(l.ffn_gate, tile.rows);
  spend_product(l.ffn_up, tile.rows);
  hal::spend(hal::work::element, std::uint64_t{tile.rows} * pass.model.ffn_width);
  spend_added_product(l.ffn_down, tile);
}

void spend_sample(const cpu_pass& pass, const cpu_tile& tile) {
  spend_product(pass.w.output, tile.rows);
  hal::spend(hal::work::element, std::uint64_t{tile.rows} * pass.model.vocabulary);
}

void spend_store(const config& model, std::uint32_t rows, std::uint32_t position, std::uint32_t layer,
                 const kv_cache& to) {
  const std::uint64_t bytes = kv_cache::element_bytes * rows * model.kv_width();
  hal::spend(hal::work::copy, bytes, to.keys(model, layer, 0, position), bytes, true, gen::purpose::step_kv);
  hal::spend(hal::work::copy, bytes, to.values(model, layer, 0, kv_cache::line_start(position)),
             to.touched_values(model, position, rows), true, gen::purpose::step_kv);
}

}  // namespace dvp::kernels
