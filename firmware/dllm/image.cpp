#include "firmware/dllm/image.h"

#include <algorithm>
#include <limits>

#include "firmware/dllm/compression.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::image_header;
using gen::result_code;
using gen::tensor_entry;
using gen::tensor_format;
using gen::tensor_kind;

constexpr std::uint32_t data_alignment = 64;

// Largest sizes: every product of two of them that the kernels form, times four bytes, stays below 2^32.
constexpr std::uint32_t most_vocabulary = 1u << 22;
constexpr std::uint32_t most_width = 1u << 16;
constexpr std::uint32_t most_heads = 1u << 10;
constexpr std::uint32_t most_head_length = 1u << 10;
constexpr std::uint32_t most_ffn_width = 1u << 18;
constexpr std::uint32_t most_context = 1u << 20;

bool in(std::uint32_t value, std::uint32_t least, std::uint32_t most) {
  return value >= least && value <= most;
}

bool has(const image_header& header, std::uint32_t flag) {
  return (header.flags & flag) != 0;
}

bool known(gen::architecture arch) {
  return arch == gen::architecture::llada || arch == gen::architecture::dream || arch == gen::architecture::qwen2;
}

bool good_header(const image_header& h) {
  return h.magic == gen::image_magic && h.version == gen::image_version && known(h.arch) &&
         in(h.vocabulary, 1, most_vocabulary) && in(h.width, 1, most_width) && in(h.layers, 1, kernels::most_layers) &&
         in(h.heads, 1, most_heads) && in(h.kv_heads, 1, h.heads) && h.heads % h.kv_heads == 0 &&
         in(h.head_length, 2, most_head_length) && h.head_length % 2 == 0 &&
         in(h.heads * h.head_length, 1, most_width) && in(h.ffn_width, 1, most_ffn_width) &&
         in(h.context, 1, most_context) && h.norm_epsilon >= 0 && h.norm_epsilon <= std::numeric_limits<float>::max() &&
         h.mask_token < h.vocabulary && (h.end_token < h.vocabulary || h.end_token == gen::no_special_token);
}

kernels::config config_of(const image_header& h) {
  return {.vocabulary = h.vocabulary,
          .width = h.width,
          .layers = h.layers,
          .heads = h.heads,
          .kv_heads = h.kv_heads,
          .head_length = h.head_length,
          .ffn_width = h.ffn_width,
          .context = h.context,
          .norm_epsilon = h.norm_epsilon,
          .mask_token = h.mask_token,
          .end_token = h.end_token,
          .shift_logits = has(h, gen::image_flag::shift_logits),
          .rope_halves = has(h, gen::image_flag::rope_halves),
          .qkv_bias = has(h, gen::image_flag::qkv_bias),
          .block_causal = has(h, gen::image_flag::block_causal)};
}

enum class storage : std::uint8_t {
  numbers,   // fp32
  matrix,    // bf16 or q8_group32
  elements,  // bf16
  channels,  // q8_channels
  words,     // u32
};

// What a tensor of some kind must look like, and where it goes.
struct place {
  kernels::tensor* target = nullptr;  // null: the model has no such tensor
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  storage how = storage::numbers;
};

// The tensors for compression. Those of a correction have any rank there can be.
place place_of_channels(const tensor_entry& e, const image_header& h, kernels::channel_weights& c) {
  const auto correction = [&](kernels::tensor& target, std::uint32_t rank, std::uint32_t rows, std::uint32_t columns) {
    return in(rank, 1, most_correction_rank) ? place{&target, rows, columns, storage::elements} : place{};
  };
  const auto inputs = [&](kernels::tensor& target) { return correction(target, e.rows / 2, e.rows / 2 * 2, h.width); };
  const auto factors = [&](kernels::tensor& target) {
    return correction(target, e.columns / 3, h.ffn_width, e.columns / 3 * 3);
  };
  const auto outputs = [&](kernels::tensor& target) { return correction(target, e.columns, h.width, e.columns); };
  switch (e.kind) {
    case tensor_kind::ffn_channels:
      return {&c.channels, h.ffn_width, 3 * h.width, storage::channels};
    case tensor_kind::ffn_importance:
      return {&c.importance, 1, h.ffn_width, storage::numbers};
    case tensor_kind::ffn_views:
      return {&c.views, 1, 2, storage::words};
    case tensor_kind::correction_q4_inputs:
      return inputs(c.correction_q4_inputs);
    case tensor_kind::correction_q4_channels:
      return factors(c.correction_q4_channels);
    case tensor_kind::correction_q4_outputs:
      return outputs(c.correction_q4_outputs);
    case tensor_kind::correction_q2_inputs:
      return inputs(c.correction_q2_inputs);
    case tensor_kind::correction_q2_channels:
      return factors(c.correction_q2_channels);
    case tensor_kind::correction_q2_outputs:
      return outputs(c.correction_q2_outputs);
    default:
      return {};
  }
}

place place_of(const tensor_entry& entry, const image_header& h, const kernels::config& model, kernels::weights& w,
               std::span<kernels::channel_weights, kernels::most_layers> channels) {
  const std::uint32_t queries = model.query_width();
  const std::uint32_t kv = model.kv_width();
  const bool outside = entry.kind == tensor_kind::embedding || entry.kind == tensor_kind::output_norm ||
                       entry.kind == tensor_kind::output || entry.kind == tensor_kind::rope_table;
  if (entry.layer >= (outside ? 1 : h.layers)) {
    return {};
  }
  kernels::layer_weights& l = w.layers[entry.layer];
  const auto only_if = [](bool present, place p) { return present ? p : place{}; };
  switch (entry.kind) {
    case tensor_kind::embedding:
      return {&w.embedding, h.vocabulary, h.width, storage::matrix};
    case tensor_kind::output_norm:
      return {&w.output_norm, 1, h.width, storage::numbers};
    case tensor_kind::output:
      return only_if(!has(h, gen::image_flag::tied_head), {&w.output, h.vocabulary, h.width, storage::matrix});
    case tensor_kind::attn_norm:
      return {&l.attn_norm, 1, h.width, storage::numbers};
    case tensor_kind::attn_q:
      return {&l.attn_q, queries, h.width, storage::matrix};
    case tensor_kind::attn_k:
      return {&l.attn_k, kv, h.width, storage::matrix};
    case tensor_kind::attn_v:
      return {&l.attn_v, kv, h.width, storage::matrix};
    case tensor_kind::attn_q_bias:
      return only_if(model.qkv_bias, {&l.attn_q_bias, 1, queries, storage::numbers});
    case tensor_kind::attn_k_bias:
      return only_if(model.qkv_bias, {&l.attn_k_bias, 1, kv, storage::numbers});
    case tensor_kind::attn_v_bias:
      return only_if(model.qkv_bias, {&l.attn_v_bias, 1, kv, storage::numbers});
    case tensor_kind::attn_output:
      return {&l.attn_output, h.width, queries, storage::matrix};
    case tensor_kind::ffn_norm:
      return {&l.ffn_norm, 1, h.width, storage::numbers};
    case tensor_kind::ffn_gate:
      return {&l.ffn_gate, h.ffn_width, h.width, storage::matrix};
    case tensor_kind::ffn_up:
      return {&l.ffn_up, h.ffn_width, h.width, storage::matrix};
    case tensor_kind::ffn_down:
      return {&l.ffn_down, h.width, h.ffn_width, storage::matrix};
    case tensor_kind::rope_table:
      return {&w.rope_table, h.context, h.head_length, storage::numbers};
    default:
      return place_of_channels(entry, h, channels[entry.layer]);
  }
}

// rows of row_bytes each `stride` apart, from an aligned offset on, end within `total`.
bool inside(std::uint64_t offset, std::uint64_t rows, std::uint64_t stride, std::uint64_t row_bytes,
            std::uint64_t total) {
  return offset % data_alignment == 0 && stride >= row_bytes && offset <= total &&
         (rows - 1) * stride + row_bytes <= total - offset;
}

// Scales of a channel: three precisions, each in whole units.
constexpr std::uint32_t scale_unit_bytes = 3 * 2 * gen::scale_slot_unit;

// Of one precision: a scale per group of gate, per group of up, one for down.
std::uint32_t scale_slots(std::uint32_t width) {
  return 2 * (width / kernels::weight_group) + 1;
}

bool good_storage(const tensor_entry& e, const place& p, std::uint64_t total) {
  if (e.rows != p.rows || e.columns != p.columns) {
    return false;
  }
  switch (e.format) {
    case tensor_format::fp32:
      return p.how == storage::numbers && e.row_bytes % 4 == 0 &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns * 4, total);
    case tensor_format::bf16:
      return (p.how == storage::matrix || p.how == storage::elements) && e.row_bytes % 2 == 0 &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns * 2, total);
    case tensor_format::q8_group32:
      return p.how == storage::matrix && e.columns % kernels::weight_group == 0 && e.scale_row_bytes % 2 == 0 &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns, total) &&
             inside(e.scale_offset, e.rows, e.scale_row_bytes, e.columns / kernels::weight_group * 2, total);
    case tensor_format::q8_channels:
      // Rows are also read as narrow codes: four to a byte of the narrowest.
      return p.how == storage::channels && e.columns / 3 % kernels::weight_group == 0 && e.row_bytes % 4 == 0 &&
             e.scale_row_bytes % scale_unit_bytes == 0 &&
             e.scale_row_bytes / scale_unit_bytes * gen::scale_slot_unit >= scale_slots(e.columns / 3) &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns, total) &&
             inside(e.scale_offset, e.rows, e.scale_row_bytes, e.scale_row_bytes, total);
    case tensor_format::words:
      return p.how == storage::words && e.row_bytes % 4 == 0 &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns * 4, total);
  }
  return false;
}

bool present(const kernels::tensor& t) {
  return t.rows != 0;
}

bool complete(const kernels::config& model, const kernels::weights& w) {
  if (!present(w.embedding) || !present(w.output_norm) || !present(w.output) || !present(w.rope_table)) {
    return false;
  }
  for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
    const kernels::layer_weights& l = w.layers[layer];
    for (const kernels::tensor* t : {&l.attn_norm, &l.attn_q, &l.attn_k, &l.attn_v, &l.attn_output, &l.ffn_norm,
                                     &l.ffn_gate, &l.ffn_up, &l.ffn_down}) {
      if (!present(*t)) {
        return false;
      }
    }
    for (const kernels::tensor* t : {&l.attn_q_bias, &l.attn_k_bias, &l.attn_v_bias}) {
      if (model.qkv_bias && !present(*t)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

result_code read_image(std::uint64_t address, kernels::config& model, kernels::weights& w,
                       std::span<kernels::channel_weights, kernels::most_layers> channels) {
  const auto headers = hal::objects<image_header>(address, 1);
  if (address % data_alignment != 0 || headers.empty() || !good_header(headers[0])) {
    return result_code::bad_image;
  }
  const image_header& header = headers[0];
  const std::uint64_t table_end = sizeof(image_header) + std::uint64_t{header.tensor_count} * sizeof(tensor_entry);
  if (header.total_bytes < table_end || hal::memory(address, header.total_bytes) == nullptr) {
    return result_code::bad_image;
  }
  model = config_of(header);
  w = {};
  std::fill(channels.begin(), channels.end(), kernels::channel_weights{});
  hal::spend(hal::work::tensor, header.tensor_count);
  for (const tensor_entry& entry : hal::objects<tensor_entry>(address + sizeof(image_header), header.tensor_count)) {
    const place p = place_of(entry, header, model, w, channels);
    if (p.target == nullptr || present(*p.target) || !good_storage(entry, p, header.total_bytes)) {
      return result_code::bad_image;
    }
    *p.target = {.data = address + entry.data_offset,
                 .scales = address + entry.scale_offset,
                 .rows = entry.rows,
                 .columns = entry.columns,
                 .row_bytes = entry.row_bytes,
                 .scale_row_bytes = entry.scale_row_bytes,
                 .format = entry.format};
  }
  if (has(header, gen::image_flag::tied_head)) {
    w.output = w.embedding;
  }
  return complete(model, w) ? result_code::ok : result_code::bad_image;
}

bool has_channels(const kernels::config& model,
                  std::span<const kernels::channel_weights, kernels::most_layers> channels,
                  std::uint32_t correction_rank) {
  const std::uint32_t rank = channels[0].correction_q4_outputs.columns;
  const auto corrected = [&](const kernels::tensor& inputs, const kernels::tensor& factors,
                             const kernels::tensor& outputs) {
    return inputs.rows == 2 * rank && factors.columns == 3 * rank && outputs.columns == rank;
  };
  for (const kernels::channel_weights& c : channels.first(model.layers)) {
    if (!present(c.channels) || !present(c.importance) || !present(c.views)) {
      return false;
    }
    if (correction_rank != 0 &&
        (!corrected(c.correction_q4_inputs, c.correction_q4_channels, c.correction_q4_outputs) ||
         !corrected(c.correction_q2_inputs, c.correction_q2_channels, c.correction_q2_outputs))) {
      return false;
    }
  }
  return correction_rank <= rank;
}

}  // namespace dvp::dllm
