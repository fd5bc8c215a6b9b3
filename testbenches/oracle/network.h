// The transformer of LLaDA and Fast-dLLM v2 (Qwen2) in double precision, without any rounding to narrower formats.
//
// Per layer: h = rms_norm(x); q, k, v = h W (+ bias); rotate q and k; x += softmax(q k / sqrt(head_length)) v W;
// h = rms_norm(x); x += (silu(h W_gate) * (h W_up)) W_down. At the end logits = rms_norm(x) W_head.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "testbenches/oracle/gguf_file.h"
#include "testbenches/oracle/product.h"

namespace dvp::oracle {

using token = std::uint32_t;

struct network_shape {
  std::size_t vocabulary = 0;
  std::size_t width = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t head_length = 0;
  double norm_epsilon = 0;
  double rope_base = 0;
  bool rope_halves = false;  // rotary pairs (i, i + head_length / 2), else (2i, 2i + 1)
};

struct layer_weights {
  std::vector<double> attn_norm;  // [width]
  weight_matrix q, k, v, output;
  std::vector<double> q_bias, k_bias, v_bias;  // empty: none
  std::vector<double> ffn_norm;                // [width]
  weight_matrix gate, up, down;
};

// Rotated keys and plain values of every layer, by position.
class key_values {
 public:
  key_values(const network_shape& shape, std::size_t layers, std::size_t positions);

 private:
  friend class network;
  struct layer {
    std::vector<double> keys;    // [kv_heads * head_length][positions]
    std::vector<double> values;  // [positions][kv_heads * head_length]
  };
  std::size_t positions_;
  std::vector<layer> layers_;
};

class network {
 public:
  network_shape shape;
  matrix embedding;  // [vocabulary][width]
  std::vector<layer_weights> layers;
  std::vector<double> output_norm;  // [width]
  weight_matrix head;               // [vocabulary][width]

  static network read(const gguf_file& file);

  // Runs the rows at positions [first, first + tokens.size()). They see one another, whatever their order, and the
  // positions before them, whose keys and values `past` holds; their own are written there. With `seen` beyond them,
  // they also see what `past` holds for the positions behind them, up to `seen`. Returns logits [tokens.size() -
  // logits_from][vocabulary] of the rows from logits_from on.
  std::vector<double> forward(std::span<const token> tokens, std::size_t first, std::size_t logits_from,
                              key_values& past, std::size_t seen = 0) const;

 private:
  std::vector<double> attend(const layer_weights& weights, const std::vector<double>& h, std::size_t first,
                             std::size_t seen, key_values::layer& past, std::size_t positions) const;
};

}  // namespace dvp::oracle
