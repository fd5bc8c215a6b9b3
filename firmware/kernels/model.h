// The network as the kernels see it: configuration and weights. The run state is in forward.h.
#pragma once

#include <array>
#include <cstdint>

#include "dvp_gen/image.h"
#include "dvp_gen/numbers.h"

namespace dvp::kernels {

inline constexpr std::uint32_t most_layers = 64;
inline constexpr std::uint32_t weight_group = gen::numbers::weight_group;  // input channels that share a scale

// A matrix in DRAM, [rows = output][columns = input].
struct tensor {
  std::uint64_t data = 0;    // bus address of codes or elements
  std::uint64_t scales = 0;  // bus address of fp16 scales [rows][columns / 32]; q8_group32 only
  std::uint32_t rows = 0;
  std::uint32_t columns = 0;
  std::uint32_t row_bytes = 0;
  std::uint32_t scale_row_bytes = 0;
  gen::tensor_format format = gen::tensor_format::fp32;
};

struct config {
  std::uint32_t vocabulary = 0;
  std::uint32_t width = 0;
  std::uint32_t layers = 0;
  std::uint32_t heads = 0;
  std::uint32_t kv_heads = 0;
  std::uint32_t head_length = 0;
  std::uint32_t ffn_width = 0;
  std::uint32_t context = 0;
  float norm_epsilon = 0;
  std::uint32_t mask_token = 0;
  std::uint32_t end_token = 0;
  bool shift_logits = false;  // row i of the logits predicts position i + 1
  bool rope_halves = false;
  bool qkv_bias = false;
  bool block_causal = false;

  std::uint32_t query_width() const { return heads * head_length; }
  std::uint32_t kv_width() const { return kv_heads * head_length; }
  std::uint32_t heads_per_kv() const { return heads / kv_heads; }
};

struct layer_weights {
  tensor attn_norm;    // [1][width] fp32
  tensor attn_q;       // [query_width][width]
  tensor attn_k;       // [kv_width][width]
  tensor attn_v;       // [kv_width][width]
  tensor attn_q_bias;  // [1][query_width] fp32, with qkv_bias
  tensor attn_k_bias;  // [1][kv_width] fp32, with qkv_bias
  tensor attn_v_bias;  // [1][kv_width] fp32, with qkv_bias
  tensor attn_output;  // [width][query_width]
  tensor ffn_norm;     // [1][width] fp32
  tensor ffn_gate;     // [ffn_width][width]
  tensor ffn_up;       // [ffn_width][width]
  tensor ffn_down;     // [width][ffn_width]
};

struct weights {
  tensor embedding;    // [vocabulary][width]
  tensor output_norm;  // [1][width] fp32
  tensor output;       // [vocabulary][width]; the embedding when tied
  tensor rope_table;   // [context][head_length] fp32: cosines, then sines
  std::array<layer_weights, most_layers> layers;
};

}  // namespace dvp::kernels
