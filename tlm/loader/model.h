// A diffusion language model inside a GGUF file: its shape, and which tensor plays which part.
#pragma once

#include <cstdint>
#include <vector>

#include "dvp_gen/image.h"
#include "tlm/loader/decode_defaults.h"
#include "tlm/loader/gguf.h"

namespace dvp::loader {

// Keys as llama.cpp writes them; <a> is the architecture (llada, dream or qwen2).
struct model_config {
  gen::architecture architecture = gen::architecture::llada;  // general.architecture
  std::uint32_t vocabulary = 0;   // rows of token_embd.weight; <a>.vocab_size and tokenizer.ggml.tokens agree if there
  std::uint32_t width = 0;        // <a>.embedding_length
  std::uint32_t layers = 0;       // <a>.block_count
  std::uint32_t heads = 0;        // <a>.attention.head_count
  std::uint32_t kv_heads = 0;     // <a>.attention.head_count_kv, else heads; divides heads
  std::uint32_t head_length = 0;  // <a>.attention.key_length, else width / heads; even
  std::uint32_t ffn_width = 0;    // <a>.feed_forward_length
  std::uint32_t context = 0;      // <a>.context_length, positions
  float norm_epsilon = 0;         // <a>.attention.layer_norm_rms_epsilon, above 0
  float rope_base = 10000.0f;     // <a>.rope.freq_base, 1 or above
  std::uint32_t mask_token = 0;   // tokenizer.ggml.mask_token_id
  std::uint32_t end_token = 0;    // tokenizer.ggml.eos_token_id
  std::uint32_t pad_token = gen::no_special_token;  // tokenizer.ggml.padding_token_id, may be absent
  bool shift_logits = false;  // diffusion.shift_logits; absent: false for llada, true for the others
  bool tied_head = false;     // there is no output.weight
  decode_defaults decode;

  // Properties of the architecture.
  bool rope_halves() const { return architecture != gen::architecture::llada; }
  bool qkv_bias() const { return architecture != gen::architecture::llada; }
  bool block_causal() const { return architecture == gen::architecture::qwen2; }
};

struct model_tensor {
  gen::tensor_kind kind = gen::tensor_kind::embedding;
  std::uint32_t layer = 0;
  std::uint32_t rows = 0;     // output channels; 1 for norms and biases
  std::uint32_t columns = 0;  // input channels
  const gguf_tensor* source = nullptr;
};

// Checked: every tensor the architecture needs is there in the shape the keys demand and in a type this loader reads,
// and the file holds no tensor that the architecture would not use (its result would silently be another model's).
struct model {
  const gguf_file* file = nullptr;
  model_config config;
  std::vector<model_tensor> tensors;  // embedding, layer by layer, output_norm, output
};

// Throws load_error. The file must outlive the model.
model read_model(const gguf_file& file);

// True for norms and biases, which stay fp32 vectors in the image.
bool is_vector(gen::tensor_kind kind);

}  // namespace dvp::loader
