#include "firmware/dllm/image.h"

#include <limits>

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

// What a tensor of some kind must look like, and where it goes.
struct place {
  kernels::tensor* target = nullptr;  // null: the model has no such tensor
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  bool matrix = false;  // bf16 or q8_group32, else fp32
};

place place_of(const tensor_entry& entry, const image_header& h, const kernels::config& model, kernels::weights& w) {
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
      return {&w.embedding, h.vocabulary, h.width, true};
    case tensor_kind::output_norm:
      return {&w.output_norm, 1, h.width, false};
    case tensor_kind::output:
      return only_if(!has(h, gen::image_flag::tied_head), {&w.output, h.vocabulary, h.width, true});
    case tensor_kind::attn_norm:
      return {&l.attn_norm, 1, h.width, false};
    case tensor_kind::attn_q:
      return {&l.attn_q, queries, h.width, true};
    case tensor_kind::attn_k:
      return {&l.attn_k, kv, h.width, true};
    case tensor_kind::attn_v:
      return {&l.attn_v, kv, h.width, true};
    case tensor_kind::attn_q_bias:
      return only_if(model.qkv_bias, {&l.attn_q_bias, 1, queries, false});
    case tensor_kind::attn_k_bias:
      return only_if(model.qkv_bias, {&l.attn_k_bias, 1, kv, false});
    case tensor_kind::attn_v_bias:
      return only_if(model.qkv_bias, {&l.attn_v_bias, 1, kv, false});
    case tensor_kind::attn_output:
      return {&l.attn_output, h.width, queries, true};
    case tensor_kind::ffn_norm:
      return {&l.ffn_norm, 1, h.width, false};
    case tensor_kind::ffn_gate:
      return {&l.ffn_gate, h.ffn_width, h.width, true};
    case tensor_kind::ffn_up:
      return {&l.ffn_up, h.ffn_width, h.width, true};
    case tensor_kind::ffn_down:
      return {&l.ffn_down, h.width, h.ffn_width, true};
    case tensor_kind::rope_table:
      return {&w.rope_table, h.context, h.head_length, false};
  }
  return {};
}

// rows of row_bytes each `stride` apart, from an aligned offset on, end within `total`.
bool inside(std::uint64_t offset, std::uint64_t rows, std::uint64_t stride, std::uint64_t row_bytes,
            std::uint64_t total) {
  return offset % data_alignment == 0 && stride >= row_bytes && offset <= total &&
         (rows - 1) * stride + row_bytes <= total - offset;
}

bool good_storage(const tensor_entry& e, const place& p, std::uint64_t total) {
  if (e.rows != p.rows || e.columns != p.columns) {
    return false;
  }
  switch (e.format) {
    case tensor_format::fp32:
      return !p.matrix && e.row_bytes % 4 == 0 && inside(e.data_offset, e.rows, e.row_bytes, e.columns * 4, total);
    case tensor_format::bf16:
      return p.matrix && e.row_bytes % 2 == 0 && inside(e.data_offset, e.rows, e.row_bytes, e.columns * 2, total);
    case tensor_format::q8_group32:
      return p.matrix && e.columns % kernels::weight_group == 0 && e.scale_row_bytes % 2 == 0 &&
             inside(e.data_offset, e.rows, e.row_bytes, e.columns, total) &&
             inside(e.scale_offset, e.rows, e.scale_row_bytes, e.columns / kernels::weight_group * 2, total);
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

result_code read_image(std::uint64_t address, kernels::config& model, kernels::weights& w) {
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
  hal::spend(hal::work::tensor, header.tensor_count);
  for (const tensor_entry& entry : hal::objects<tensor_entry>(address + sizeof(image_header), header.tensor_count)) {
    const place p = place_of(entry, header, model, w);
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

}  // namespace dvp::dllm
