#include "firmware/kernels/cpu_forward.h"

#include <algorithm>

#include "firmware/hal/hal.h"
#include "firmware/kernels/cpu_cost.h"
#include "firmware/kernels/cpu_layer.h"

namespace dvp::kernels {
namespace {

template <class Work>
void for_tiles(std::uint32_t first, std::uint32_t rows, Work&& work) {
  for (std::uint32_t done = 0; done < rows; done += cpu_tile_rows) {
    work(cpu_tile{.first = first + done, .rows = std::min(cpu_tile_rows, rows - done)});
  }
}

// All layers; between the keys and values of a layer and its attention comes store(layer). Without data every operator
// costs what it costs and that is all; who predicts what is then the machine's to say.
template <class Store>
void run_pass(const cpu_pass& pass, hal::prediction kind, std::span<gen::sample_record> records, Store&& store) {
  const bool computes = hal::has_data();
  const auto normalise = [&](const tensor& weight, const cpu_tile& tile) {
    if (computes) {
      cpu_normalise(pass, weight, tile);
    }
    spend_normalise(pass, weight, tile);
  };
  const std::uint32_t all = static_cast<std::uint32_t>(pass.rows.positions.size());
  const std::uint32_t selected = pass.rows.logits_first;
  for_tiles(0, all, [&](const cpu_tile& tile) {
    if (computes) {
      cpu_embed(pass, tile);
    }
    spend_embed(pass, tile);
  });
  for (std::uint32_t layer = 0; layer < pass.rows.layers; ++layer) {
    const layer_weights& l = pass.w.layers[layer];
    const bool last = layer + 1 == pass.rows.layers;
    for_tiles(0, all, [&](const cpu_tile& tile) {
      normalise(l.attn_norm, tile);
      if (computes) {
        cpu_keys_values(pass, layer, tile);
      }
      spend_keys_values(pass, layer, tile);
    });
    store(layer);
    for_tiles(last ? selected : 0, last ? pass.rows.logits_rows : all, [&](const cpu_tile& tile) {
      normalise(l.attn_norm, tile);
      if (computes) {
        cpu_attend(pass, layer, tile);
      }
      spend_attend(pass, layer, tile);
      normalise(l.ffn_norm, tile);
      if (computes) {
        cpu_feed_forward(pass, layer, tile);
      }
      spend_feed_forward(pass, layer, tile);
    });
  }
  for_tiles(selected, pass.rows.logits_rows, [&](const cpu_tile& tile) {
    normalise(pass.w.output_norm, tile);
    const auto tile_records = records.subspan(tile.first - selected, tile.rows);
    if (computes) {
      cpu_sample(pass, tile, tile_records);
    }
    spend_sample(pass, tile);
    for (std::uint32_t r = 0; r < tile.rows; ++r) {
      hal::predicted(kind, pass.rows.positions[tile.first + r], tile_records[r]);
    }
  });
}

// New keys and values of one layer, of row r at its position; nothing without data.
void store_row(const config& model, const cpu_buffers& parts, std::uint64_t source, std::uint32_t position,
               std::uint32_t layer, const kv_cache& to) {
  if (!hal::has_data()) {
    return;
  }
  for (std::uint32_t head = 0; head < model.kv_heads; ++head) {
    const std::uint64_t bytes = kv_cache::element_bytes * model.head_length;
    auto* keys = static_cast<std::uint16_t*>(hal::memory(to.keys(model, layer, head, position), bytes));
    std::copy_n(parts.keys + source + head * model.head_length, model.head_length, keys);
  }
  const std::uint64_t half = to.half_layer(model);
  auto* values = static_cast<std::uint16_t*>(hal::memory(to.values(model, layer, 0, 0), half)) + position;
  for (std::uint32_t feature = 0; feature < model.kv_width(); ++feature) {
    values[std::uint64_t{feature} * to.capacity] = parts.values[source + feature];
  }
}

}  // namespace

void compute_rows(const config& model, const weights& w, const kv_cache& cache, const cpu_workspace& space,
                  const cpu_rows& rows, std::span<gen::sample_record> records) {
  run_pass({model, w, cache, space, rows, buffers_of(model, space)}, hal::prediction::revision, records,
           [](std::uint32_t) {});
}

void store_rows(const config& model, const cpu_workspace& space, const cpu_rows& rows,
                std::span<const std::uint32_t> chosen, std::uint32_t first_layer, std::uint32_t layers,
                const kv_cache& to) {
  if (chosen.empty()) {
    return;
  }
  const cpu_buffers parts = buffers_of(model, space);
  for (std::uint32_t layer = first_layer; layer < first_layer + layers; ++layer) {
    for (const std::uint32_t row : chosen) {
      const std::uint64_t source = new_rows(model, space, layer) + std::uint64_t{row} * model.kv_width();
      store_row(model, parts, source, rows.positions[row], layer, to);
      spend_store(model, 1, rows.positions[row], layer, to);
    }
  }
}

void cpu_forward(const config& model, const weights& w, run_state& state, const forward_pass& pass) {
  cpu_workspace space = state.engine;
  space.kept_layers = 0;
  const cpu_buffers parts = buffers_of(model, space);
  for (std::uint32_t r = 0; r < pass.rows; ++r) {
    parts.positions[r] = pass.first + r;
  }
  const std::uint64_t tokens = state.tokens + sizeof(std::uint32_t) * std::uint64_t{pass.first};
  const cpu_rows rows{.positions = {parts.positions, pass.rows},
                      .tokens = hal::objects<std::uint32_t>(tokens, pass.rows),
                      .keys = pass.keys,
                      .layers = model.layers,
                      .logits_first = pass.logits_rows == 0 ? 0 : pass.logits_first - pass.first,
                      .logits_rows = pass.logits_rows,
                      .rule = pass.rule};
  run_pass({model, w, state.cache, space, rows, parts}, hal::prediction::forward,
           hal::objects<gen::sample_record>(state.results, pass.logits_rows), [&](std::uint32_t layer) {
             for (std::uint32_t r = 0; r < pass.rows; ++r) {
               store_row(model, parts, std::uint64_t{r} * model.kv_width(), pass.first + r, layer, state.cache);
             }
             spend_store(model, pass.rows, pass.first, layer, state.cache);
           });
}

}  // namespace dvp::kernels
