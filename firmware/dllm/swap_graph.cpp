#include "firmware/dllm/swap_graph.h"

#include <algorithm>
#include <cstring>

#include "firmware/dllm/alignment.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::operator_label;
using kernels::tensor;

channel_rows codes_of(const tensor& t) {
  const std::uint32_t element = t.format == gen::tensor_format::q8_group32 ? 1
                                : t.format == gen::tensor_format::bf16     ? 2
                                                                           : 4;
  return {t.data, t.row_bytes, t.columns * element, gen::purpose::weights};
}

channel_rows scales_of(const tensor& t) {
  return {t.scales, t.scale_row_bytes, 2 * (t.columns / kernels::weight_group), gen::purpose::scales};
}

void add_product(operator_label name, std::uint32_t layer, std::uint32_t unit, const tensor& first,
                 const tensor* second, swap_graph& graph) {
  swap_product& p = graph.products[graph.count++];
  p = {};
  p.name = name;
  p.layer = layer;
  p.channels = first.rows;
  p.unit = std::min(unit, first.rows);
  add_matrix(first, p);
  if (second != nullptr) {
    add_matrix(*second, p);
  }
}

byte_range whole(const channel_rows& rows, std::uint32_t channels) {
  return rows.part(0, channels);
}

template <class Work>
void for_parameters(const kernels::config& model, kernels::weights& w, Work&& work) {
  work(w.output_norm);
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    kernels::layer_weights& l = w.layers[layer];
    for (tensor* t : {&l.attn_norm, &l.ffn_norm}) {
      work(*t);
    }
    for (tensor* t : {&l.attn_q_bias, &l.attn_k_bias, &l.attn_v_bias}) {
      if (model.qkv_bias) {
        work(*t);
      }
    }
  }
}

}  // namespace

void add_matrix(const tensor& t, swap_product& p) {
  p.rows[p.row_count++] = codes_of(t);
  if (t.format == gen::tensor_format::q8_group32) {
    p.rows[p.row_count++] = scales_of(t);
  }
}

bool swap_graph::same_memory(const swap_graph& other) const {
  return layers == other.layers && count == other.count && always() == other.always() &&
         std::equal(products.begin(), products.begin() + count, other.products.begin());
}

void make_graph(const kernels::config& model, const kernels::weights& w, const kernels::kv_cache& cache,
                std::uint32_t positions, swap_graph& graph) {
  graph.layers = model.layers;
  graph.count = 0;
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const kernels::layer_weights& l = w.layers[layer];
    add_product(operator_label::key_projection, layer, model.head_length, l.attn_k, &l.attn_v, graph);
    add_product(operator_label::query_projection, layer, model.head_length, l.attn_q, nullptr, graph);
    add_product(operator_label::attn_output, layer, kernels::weight_group, l.attn_output, nullptr, graph);
    add_product(operator_label::ffn_gate, layer, kernels::weight_group, l.ffn_gate, &l.ffn_up, graph);
    add_product(operator_label::ffn_down, layer, l.ffn_down.rows, l.ffn_down, nullptr, graph);
  }
  if (w.output.data != w.embedding.data) {
    add_product(operator_label::head, 0, kernels::weight_group, w.output, nullptr, graph);
  }
  graph.rope = whole(codes_of(w.rope_table), positions);
  graph.embedding = {whole(codes_of(w.embedding), w.embedding.rows), byte_range{}};
  if (w.embedding.format == gen::tensor_format::q8_group32) {
    graph.embedding[1] = whole(scales_of(w.embedding), w.embedding.rows);
  }
  graph.cache = {cache.address, cache.bytes(model)};
  graph.cached[0] = {cache.address, 2 * cache.half_layer(model)};
  graph.cached_count = 1;
  graph.store = {};
  graph.ffn_state = {};
}

std::uint64_t parameter_bytes(const kernels::config& model) {
  const std::uint64_t norm = align_up(std::uint64_t{4} * model.width);
  const std::uint64_t biases =
      align_up(std::uint64_t{4} * model.query_width()) + 2 * align_up(std::uint64_t{4} * model.kv_width());
  return norm + model.layers * (2 * norm + (model.qkv_bias ? biases : 0));
}

void pack_parameters(const kernels::config& model, std::uint64_t address, kernels::weights& w) {
  for_parameters(model, w, [&](tensor& t) {
    const std::uint64_t bytes = std::uint64_t{4} * t.columns;
    std::memcpy(hal::memory(address, bytes), hal::memory(t.data, bytes), bytes);
    hal::spend(hal::work::copy, bytes);
    t.data = address;
    address += align_up(bytes);
  });
}

}  // namespace dvp::dllm
