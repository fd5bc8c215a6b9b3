#include <algorithm>

#include "firmware/kernels/kv_encode.h"
#include "firmware/kernels/projection.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::vector_function;

// What becomes of the rows besides.
struct finishing {
  bool encode = false;
  bool gram = false;
};

void finish_heads(const config& model, std::uint32_t layer, kv_half half, std::uint32_t first, std::uint32_t channels,
                  const matrix& numbers, run_state& state, const row_span& span, const finishing& finish) {
  if (finish.encode) {
    encode_heads(model, layer, half, first / model.head_length, channels / model.head_length, numbers, span.rows,
                 finish.gram, state);
  }
}

// Some heads of the keys: rotated, one plane per head.
void store_keys(const config& model, const layer_weights& w, std::uint32_t layer, std::uint32_t first,
                std::uint32_t channels, run_state& state, const row_span& span, const finishing& finish) {
  const std::uint32_t head_bytes = model.head_length * 2;
  state.stream.label(operator_label::key_projection, layer);
  const matrix keys = project(model, w.attn_k, places_of(model, state.plan).k, first, channels, state, span);
  const matrix rotated{state.cached.next(state.plan.cached).address, channels * 2};
  state.stream.apply({.function = rope_function(model),
                      .rows = span.rows,
                      .columns = channels,
                      .s0 = keys,
                      .s1 = span.rope,
                      .d = rotated,
                      .scalar_int = model.head_length});
  finish_heads(model, layer, kv_half::keys, first, channels, keys, state, span, finish);
  state.stream.label(operator_label::kv_store, layer);
  state.stream.store({.dram = state.cache.keys(model, layer, first / model.head_length, span.first),
                      .dram_stride = head_bytes,
                      .dram_plane_stride = state.cache.capacity * head_bytes,
                      .scratchpad = rotated,
                      .plane_stride = head_bytes,
                      .row_bytes = head_bytes,
                      .rows = span.rows,
                      .planes = channels / model.head_length,
                      .purpose = gen::purpose::step_kv,
                      .precision = gen::precision::bf16,
                      .object = dram_object::kv_cache});
}

// Some features of the values: one DRAM row each.
void store_values(const config& model, const layer_weights& w, std::uint32_t layer, std::uint32_t first,
                  std::uint32_t channels, run_state& state, const row_span& span, const finishing& finish) {
  state.stream.label(operator_label::value_projection, layer);
  const matrix values = project(model, w.attn_v, places_of(model, state.plan).v, first, channels, state, span);
  const matrix features{state.cached.next(state.plan.cached).address, span.rows * 2};
  state.stream.apply({.function = vector_function::transpose_to_bf16,
                      .rows = span.rows,
                      .columns = channels,
                      .s0 = values,
                      .s1 = {},
                      .d = features});
  finish_heads(model, layer, kv_half::values, first, channels, values, state, span, finish);
  state.stream.label(operator_label::kv_store, layer);
  state.stream.store({.dram = state.cache.values(model, layer, first, span.first),
                      .dram_stride = state.cache.capacity * 2,
                      .scratchpad = features,
                      .row_bytes = span.rows * 2,
                      .rows = channels,
                      .purpose = gen::purpose::step_kv,
                      .precision = gen::precision::bf16,
                      .object = dram_object::kv_cache});
}

}  // namespace

void store_keys_values(const config& model, const weights& w, std::uint32_t layer, run_state& state,
                       const row_span& span, bool encode, bool gram) {
  const finishing finish{.encode = encode, .gram = gram};
  const layer_weights& l = w.layers[layer];
  const bias_places biases = places_of(model, state.plan);
  state.stream.label(operator_label::key_projection, layer);
  load_bias(model, l.attn_k_bias, biases.k, state);
  load_bias(model, l.attn_v_bias, biases.v, state);
  for (std::uint32_t first = 0, channels = 0; first < model.kv_width(); first += channels) {
    channels = state.enter({operator_label::key_projection, layer, first},
                           std::min(state.plan.channels, model.kv_width() - first));
    store_keys(model, l, layer, first, channels, state, span, finish);
    store_values(model, l, layer, first, channels, state, span, finish);
  }
  if (encode) {
    store_entries(model, layer, span.rows, state);
  }
}

}  // namespace dvp::kernels
