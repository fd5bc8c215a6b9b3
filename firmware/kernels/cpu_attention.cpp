#include <algorithm>

#include "firmware/hal/hal.h"
#include "firmware/kernels/cpu_layer.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/chain_products.h"
#include "tlm/numerics/rows.h"
#include "tlm/numerics/special.h"

namespace dvp::kernels {
namespace {

// A projected row, rotated by its position's angles, to d.
void rotate(const cpu_pass& pass, std::uint32_t position, const float* x, std::uint32_t n, std::uint16_t* d) {
  const float* angles = floats(pass.w.rope_table, position);
  const std::uint32_t half = pass.model.head_length / 2;
  numerics::rope_row(x, angles, angles + half, pass.model.rope_halves, pass.model.head_length, d, n);
}

// What one KV head sees: keys of its positions one by one, values feature by feature.
struct seen_rows {
  const std::uint16_t* keys = nullptr;    // bf16 [keys][head_length], dense
  const std::uint16_t* values = nullptr;  // bf16 [head_length][keys]
  std::uint32_t value_stride = 0;
};

seen_rows cached_rows(const cpu_pass& pass, std::uint32_t layer, std::uint32_t kv_head) {
  const config& m = pass.model;
  const std::uint64_t head_bytes = kv_cache::element_bytes * m.head_length;
  const std::uint64_t keys = pass.cache.keys(m, layer, kv_head, 0);
  const std::uint64_t values = pass.cache.values(m, layer, kv_head * m.head_length, 0);
  return {.keys = static_cast<const std::uint16_t*>(hal::memory(keys, head_bytes * pass.rows.keys)),
          .values = static_cast<const std::uint16_t*>(hal::memory(values, head_bytes * pass.cache.capacity)),
          .value_stride = pass.cache.capacity};
}

// The cache's rows, copied, with the new ones of the pass in their places.
seen_rows overlaid_rows(const cpu_pass& pass, std::uint32_t layer, std::uint32_t kv_head) {
  const config& m = pass.model;
  const cpu_buffers& parts = pass.parts;
  const std::uint32_t keys = pass.rows.keys;
  const seen_rows cached = cached_rows(pass, layer, kv_head);
  std::copy_n(cached.keys, std::uint64_t{keys} * m.head_length, parts.seen_keys);
  for (std::uint32_t e = 0; e < m.head_length; ++e) {
    std::copy_n(cached.values + std::uint64_t{e} * cached.value_stride, keys,
                parts.seen_values + std::uint64_t{e} * keys);
  }
  const std::uint64_t first = new_rows(m, pass.space, layer) + kv_head * m.head_length;
  for (std::size_t r = 0; r < pass.rows.positions.size(); ++r) {
    const std::uint32_t position = pass.rows.positions[r];
    const std::uint64_t row = first + r * m.kv_width();
    std::copy_n(parts.keys + row, m.head_length, parts.seen_keys + std::uint64_t{position} * m.head_length);
    for (std::uint32_t e = 0; e < m.head_length; ++e) {
      parts.seen_values[std::uint64_t{e} * keys + position] = parts.values[row + e];
    }
  }
  return {.keys = parts.seen_keys, .values = parts.seen_values, .value_stride = keys};
}

// Queries of a KV head: the query heads that share it lie one below the other, as stacked rows.
panels queries_of(const cpu_pass& pass, const cpu_tile& tile, std::uint32_t kv_head) {
  const config& m = pass.model;
  const std::uint32_t stacked = m.heads_per_kv() * tile.rows;
  return {.elements = pass.parts.queries + std::uint64_t{kv_head} * stacked * m.head_length,
          .rows = stacked,
          .reduction = m.head_length};
}

void project_queries(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const config& m = pass.model;
  const layer_weights& l = pass.w.layers[layer];
  project(pass, l.attn_q, l.attn_q_bias, normed_rows(pass, tile));
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    rotate(pass, pass.rows.positions[tile.first + r], pass.parts.projected + std::uint64_t{r} * m.query_width(),
           m.query_width(), pass.parts.row);
    for (std::uint32_t head = 0; head < m.heads; ++head) {
      const panels queries = queries_of(pass, tile, head / m.heads_per_kv());
      const std::uint32_t stacked = head % m.heads_per_kv() * tile.rows + r;
      std::uint16_t* d = queries.at(stacked, 0);
      for (std::uint32_t e = 0; e < m.head_length; ++e, d += queries.step(stacked)) {
        *d = pass.parts.row[head * m.head_length + e];
      }
    }
  }
}

// Scores of a panel's columns to probabilities.
void soften(const cpu_pass& pass, std::uint32_t columns, float scale) {
  const std::uint32_t keys = pass.rows.keys;
  for (std::uint32_t c = 0; c < columns; ++c) {
    for (std::uint32_t k = 0; k < keys; ++k) {
      pass.parts.score_row[k] = pass.parts.scores[std::uint64_t{k} * columns + c];
    }
    numerics::softmax_row(pass.parts.score_row, scale, pass.parts.row, keys);
    for (std::uint32_t k = 0; k < keys; ++k) {
      pass.parts.probabilities[std::uint64_t{k} * columns + c] = pass.parts.row[k];
    }
  }
}

void mix_head(const cpu_pass& pass, const cpu_tile& tile, std::uint32_t kv_head, const seen_rows& seen,
              const panels& mixed) {
  const config& m = pass.model;
  const float scale = numerics::rsqrt(static_cast<float>(m.head_length));
  const panels queries = queries_of(pass, tile, kv_head);
  for (std::uint32_t panel = 0; panel < queries.count(); ++panel) {
    const std::uint32_t columns = queries.columns(panel);
    hal::feed_watchdog();
    numerics::chain_products({.format = numerics::stream_format::bf16,
                              .columns = columns,
                              .vectors = pass.rows.keys,
                              .reduction = m.head_length,
                              .group = m.head_length,
                              .stationary = queries.at(panel),
                              .stream = seen.keys,
                              .stream_stride = m.head_length,
                              .out = pass.parts.scores});
    soften(pass, columns, scale);
    numerics::chain_products({.format = numerics::stream_format::bf16,
                              .columns = columns,
                              .vectors = m.head_length,
                              .reduction = pass.rows.keys,
                              .group = pass.rows.keys,
                              .stationary = pass.parts.probabilities,
                              .stream = seen.values,
                              .stream_stride = seen.value_stride,
                              .out = pass.parts.sums});
    for (std::uint32_t c = 0; c < columns; ++c) {
      const std::uint32_t stacked = panel * cpu_panel_rows + c;
      const std::uint32_t head = kv_head * m.heads_per_kv() + stacked / tile.rows;
      const std::uint32_t row = stacked % tile.rows;
      std::uint16_t* d = mixed.at(row, head * m.head_length);
      for (std::uint32_t e = 0; e < m.head_length; ++e, d += mixed.step(row)) {
        *d = numerics::to_bf16(pass.parts.sums[e * columns + c]);
      }
    }
  }
}

}  // namespace

std::uint64_t new_rows(const config& model, const cpu_workspace& space, std::uint32_t layer) {
  return space.kept_layers == 0 ? 0 : std::uint64_t{layer} * space.rows * model.kv_width();
}

void cpu_keys_values(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const layer_weights& l = pass.w.layers[layer];
  const panels normed = normed_rows(pass, tile);
  const std::uint32_t n = pass.model.kv_width();
  const std::uint64_t first = new_rows(pass.model, pass.space, layer) + std::uint64_t{tile.first} * n;
  project(pass, l.attn_k, l.attn_k_bias, normed);
  for (std::uint32_t r = 0; r < tile.rows; ++r) {
    rotate(pass, pass.rows.positions[tile.first + r], pass.parts.projected + std::uint64_t{r} * n, n,
           pass.parts.keys + first + std::uint64_t{r} * n);
  }
  project(pass, l.attn_v, l.attn_v_bias, normed);
  numerics::to_bf16_row(pass.parts.projected, pass.parts.values + first, tile.rows * n);
}

void cpu_attend(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile) {
  const config& m = pass.model;
  const bool overlaid = pass.space.kept_layers != 0;
  const panels mixed{.elements = pass.parts.mixed, .rows = tile.rows, .reduction = m.query_width()};
  project_queries(pass, layer, tile);
  for (std::uint32_t kv_head = 0; kv_head < m.kv_heads; ++kv_head) {
    mix_head(pass, tile, kv_head, overlaid ? overlaid_rows(pass, layer, kv_head) : cached_rows(pass, layer, kv_head),
             mixed);
  }
  add_product(pass, pass.w.layers[layer].attn_output, mixed, tile);
}

}  // namespace dvp::kernels
