#include "firmware/dllm/swap_compression.h"

namespace dvp::dllm {
namespace {

using gen::operator_label;
using kernels::kv_half;
using kernels::tensor;

void add_store(const kernels::kv_store& store, const kernels::config& model, bool ranked, swap_graph& graph) {
  graph.store = {store.address, store.bytes(model)};
  const auto add = [&](auto address_in) {
    graph.cached[graph.cached_count++] = {address_in(0), address_in(1) - address_in(0)};
  };
  add([&](std::uint32_t layer) { return store.codes(model, layer, kv_half::keys, 0); });
  add([&](std::uint32_t layer) { return store.terms(model, layer, 0); });
  add([&](std::uint32_t layer) { return store.list(model, layer); });
  if (store.rank != 0) {
    add([&](std::uint32_t layer) { return store.basis(model, layer, 1, kv_half::keys, 0); });
    add([&](std::uint32_t layer) { return store.gram(model, layer, kv_half::keys, 0); });
  }
  if (ranked) {
    add([&](std::uint32_t layer) { return store.maxima(model, layer); });
  }
}

// A factor that corrects every channel.
void add_factor(const tensor& t, swap_product& p) {
  p.rows[p.row_count++] = {t.data, 0, t.rows * t.row_bytes, gen::purpose::corrections};
}

void add_correction(const tensor& inputs, const tensor& channels, const tensor& outputs, swap_product& p) {
  if (channels.rows == 0) {
    return;
  }
  p.rows[p.row_count++] = {channels.data, channels.row_bytes, channels.row_bytes, gen::purpose::corrections};
  add_factor(inputs, p);
  add_factor(outputs, p);
}

void add_channels(const kernels::channel_weights& w, std::uint32_t layer, bool corrected, swap_graph& graph) {
  const tensor& t = w.channels;
  swap_product& p = graph.products[graph.count++];
  p = {};
  p.name = operator_label::ffn_update;
  p.layer = layer;
  p.channels = p.unit = t.rows;
  p.rows[p.row_count++] = {t.data, t.row_bytes, t.columns, gen::purpose::weights};
  p.rows[p.row_count++] = {t.scales, t.scale_row_bytes, t.scale_row_bytes, gen::purpose::scales};
  if (corrected) {
    add_correction(w.correction_q4_inputs, w.correction_q4_channels, w.correction_q4_outputs, p);
    add_correction(w.correction_q2_inputs, w.correction_q2_channels, w.correction_q2_outputs, p);
  }
}

// How many forwards there are at least when the answer is as long as it may be: blocks of the prompt, and full ones of
// the answer; and one per sub-block that denoises.
struct forward_counts {
  std::uint32_t whole = 0;
  std::uint32_t denoising = 0;
};

forward_counts count_forwards(const gen::request_record& r) {
  const std::uint32_t sub_blocks = (r.generate_tokens + r.sub_block_length - 1) / r.sub_block_length;
  return {(r.prompt_tokens + r.generate_tokens) / r.block_length, sub_blocks};
}

}  // namespace

void add_compression(const gen::request_record& request, const compression_request& compression,
                     const compression_space& space, const kernels::config& model, const kernels::anchored_ffn& network,
                     swap_graph& graph) {
  if (compression.stores()) {
    add_store(space.store, model, compression.ranks(), graph);
  }
  if (!compression.anchors()) {
    return;
  }
  graph.ffn_state = {space.order, space.drift + std::uint64_t{2 * sizeof(float)} * model.layers - space.order};
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    add_channels(network.layers[layer], layer, compression.record.correction_rank != 0, graph);
  }
  const forward_counts forwards = count_forwards(request);
  for (std::uint32_t i = 0; i < graph.count; ++i) {
    swap_product& p = graph.products[i];
    const bool whole_pass = p.name == operator_label::ffn_gate || p.name == operator_label::ffn_down;
    p.uses = p.name == operator_label::ffn_update ? forwards.denoising
             : whole_pass                         ? forwards.whole
                                                  : forwards.denoising + forwards.whole;
  }
}

}  // namespace dvp::dllm
