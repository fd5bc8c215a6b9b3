#include "testbenches/unit/loader/tiny_model.h"

#include <random>

namespace dvp::testbenches {
namespace {

// Sign, an exponent near 1 and any fraction.
std::uint16_t random_half(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  return static_cast<std::uint16_t>((bits & 0x83ff) | (10 + (bits >> 32) % 6) << 10);
}

void add_tensor(gguf_writer& file, const std::string& name, std::vector<std::uint64_t> shape, std::uint32_t type,
                std::uint64_t seed) {
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) {
    elements *= extent;
  }
  file.tensors.push_back({name, std::move(shape), type, random_data(type, elements, seed + file.tensors.size()), {}});
}

void add_tokenizer(gguf_writer& file, bool merges) {
  file.set("tokenizer.ggml.model", "gpt2");
  file.set("tokenizer.ggml.pre", "default");
  file.set_array<std::string>("tokenizer.ggml.tokens",
                              {"<|pad|>", "<|mask|>", "<|end|>", "\u010a", "\u0120", "a", "b", "c", "\u00c3", "\u00a9",
                               "ab", "abc", "\u0120a", "'", "1", "<tool>"});
  file.set_array<std::int32_t>("tokenizer.ggml.token_type", {3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 4});
  file.set_array<std::string>("tokenizer.ggml.merges", merges ? std::vector<std::string>{"a b", "\u0120 a", "ab c"}
                                                              : std::vector<std::string>{});
  file.set("tokenizer.ggml.mask_token_id", tiny_mask);
  file.set("tokenizer.ggml.eos_token_id", tiny_end);
  file.set("tokenizer.ggml.padding_token_id", tiny_pad);
}

}  // namespace

byte_string random_data(std::uint32_t type, std::uint64_t elements, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  byte_string data;
  const auto codes = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      append(data, static_cast<std::uint8_t>(random()));
    }
  };
  if (type == f32) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      append(data, static_cast<float>(static_cast<std::int64_t>(random() >> 20) - (1ll << 43)) * 0x1p-43f);
    }
  } else if (type == f16) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      append(data, random_half(random));
    }
  } else if (type == bf16) {
    for (std::uint64_t i = 0; i < elements; ++i) {
      const std::uint64_t bits = random();
      append(data, static_cast<std::uint16_t>((bits & 0x807f) | (122 + (bits >> 32) % 6) << 7));
    }
  } else if (type == q4_k) {
    data.resize(elements / 256 * 144);
  } else {
    for (std::uint64_t i = 0; i < elements / 32; ++i) {
      append(data, random_half(random));
      if (type == q4_1) {
        append(data, random_half(random));
      }
      codes(type == q8_0 ? 32 : 16);
    }
  }
  return data;
}

gguf_writer tiny_model(const tiny_options& options) {
  const bool llada = options.architecture == "llada";
  constexpr std::uint64_t width = 32, channels = 64, q_rows = 32;
  const std::uint64_t kv_rows = llada ? 32 : 16;
  const std::string a = options.architecture + ".";
  gguf_writer file;
  file.set("general.architecture", options.architecture);
  file.set(a + "embedding_length", std::uint32_t{width});
  file.set(a + "block_count", std::uint32_t{2});
  file.set(a + "attention.head_count", std::uint32_t{2});
  file.set(a + "attention.head_count_kv", std::uint32_t{llada ? 2u : 1u});
  file.set(a + "feed_forward_length", std::uint32_t{channels});
  file.set(a + "attention.layer_norm_rms_epsilon", 1e-5f);
  file.set(a + "rope.freq_base", 500000.0f);
  file.set(a + "context_length", std::uint32_t{40});
  file.set("diffusion.shift_logits", !llada);
  add_tokenizer(file, options.merges);

  const std::uint32_t m = options.matrices, v = options.vectors;
  const auto add = [&](const std::string& name, const std::vector<std::uint64_t>& shape) {
    add_tensor(file, name, shape, shape.size() == 2 ? m : v, options.seed * 1000);
  };
  add("token_embd.weight", {width, tiny_tokens});
  for (const std::string blk : {"blk.0.", "blk.1."}) {
    add(blk + "attn_norm.weight", {width});
    add(blk + "attn_q.weight", {width, q_rows});
    add(blk + "attn_k.weight", {width, kv_rows});
    add(blk + "attn_v.weight", {width, kv_rows});
    if (!llada) {
      add(blk + "attn_q.bias", {q_rows});
      add(blk + "attn_k.bias", {kv_rows});
      add(blk + "attn_v.bias", {kv_rows});
    }
    add(blk + "attn_output.weight", {q_rows, width});
    add(blk + "ffn_norm.weight", {width});
    add(blk + "ffn_gate.weight", {width, channels});
    add(blk + "ffn_up.weight", {width, channels});
    add(blk + "ffn_down.weight", {channels, width});
  }
  add("output_norm.weight", {width});
  if (!options.tied) {
    add("output.weight", {width, tiny_tokens});
  }
  return file;
}

std::vector<byte_string> seed_files() {
  gguf_writer extras = tiny_model({.architecture = "qwen2", .merges = true});
  extras.version = 2;
  extras.alignment = 64;
  extras.set("general.alignment", std::uint32_t{64});
  extras.set("tokenizer.ggml.pre", "qwen2");
  extras.remove("tokenizer.ggml.token_type");
  extras.set("tokenizer.ggml.add_bos_token", true);
  extras.set("tokenizer.ggml.bos_token_id", tiny_pad);
  extras.set("qwen2.attention.key_length", std::uint32_t{16});
  extras.set("dllm.block_length", std::uint32_t{16});
  extras.set("dllm.threshold", 0.8);
  extras.set("dllm.prompt_suffix", "\n");
  byte_string nested;
  append(nested, gguf_writer::array_type);
  append(nested, std::uint64_t{1});
  append(nested, gguf_type_number<std::uint16_t>());
  append(nested, std::uint64_t{2});
  append(nested, std::uint32_t{7});
  extras.set_raw("test.nested", gguf_writer::array_type, nested);
  return {
      tiny_model({.architecture = "llada", .matrices = q8_0}).build(),
      tiny_model({.architecture = "llada", .matrices = q4_1, .vectors = f16, .merges = true}).build(),
      tiny_model({.architecture = "dream", .matrices = q4_0, .vectors = bf16}).build(),
      tiny_model({.architecture = "dream", .matrices = bf16, .tied = true}).build(),
      extras.build(),
  };
}

}  // namespace dvp::testbenches
