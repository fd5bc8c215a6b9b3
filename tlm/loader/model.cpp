#include "tlm/loader/model.h"

#include <algorithm>
#include <limits>
#include <unordered_set>

#include "tlm/loader/key_reader.h"

namespace dvp::loader {
namespace {

using gen::architecture;
using gen::tensor_kind;

architecture read_architecture(const gguf_file& file) {
  const auto name = file.string_of("general.architecture");
  if (!name) {
    throw missing_key(file, "general.architecture");
  }
  for (const architecture known : {architecture::llada, architecture::dream, architecture::qwen2}) {
    if (*name == gen::name_of(known)) {
      return known;
    }
  }
  throw load_error(file.name(), "", "architecture " + printable(*name) + " is not one of llada, dream, qwen2");
}

// Keys whose presence with another value means a network this platform does not compute.
void refuse_variants(const gguf_file& file, const std::string& prefix, std::uint32_t head_length) {
  const std::string rotary_key = prefix + "rope.dimension_count";
  if (count_key(file, rotary_key, head_length) != head_length) {
    throw file.key_error(rotary_key, "differs from the head length " + grouped(head_length) +
                                         ", partial rotary embedding is not supported");
  }
  const std::string value_key = prefix + "attention.value_length";
  if (count_key(file, value_key, head_length) != head_length) {
    throw file.key_error(value_key, "differs from the key length " + grouped(head_length) + ", which is not supported");
  }
  const std::string scaling_key = prefix + "rope.scaling.type";
  const std::string_view scaling = file.string_of(scaling_key).value_or("none");
  if (scaling != "none") {
    throw file.key_error(scaling_key, "is " + printable(scaling) + ", rotary scaling is not supported");
  }
}

void read_heads(const gguf_file& file, const std::string& prefix, model_config& config) {
  const std::string heads_key = prefix + "attention.head_count", kv_key = prefix + "attention.head_count_kv";
  config.heads = count_key(file, heads_key);
  config.kv_heads = count_key(file, kv_key, config.heads);
  if (config.heads % config.kv_heads != 0) {
    throw file.key_error(heads_key, "is " + grouped(config.heads) + ", which is not a multiple of the " +
                                        grouped(config.kv_heads) + " key-value heads");
  }
  const std::string length_key = prefix + "attention.key_length";
  if (file.find(length_key) == nullptr && config.width % config.heads != 0) {
    throw file.key_error(prefix + "embedding_length", "is " + grouped(config.width) + ", which does not divide into " +
                                                          grouped(config.heads) + " heads and there is no " +
                                                          length_key);
  }
  config.head_length = count_key(file, length_key, config.width / config.heads);
  if (config.head_length == 0 || config.head_length % 2 != 0) {
    throw load_error(file.name(), "",
                     "head length " + grouped(config.head_length) + " is not even, rotary embedding works on pairs");
  }
  if (std::uint64_t{config.heads} * config.head_length > std::numeric_limits<std::int32_t>::max()) {
    throw file.key_error(heads_key, "of " + grouped(config.heads) + " heads of length " + grouped(config.head_length) +
                                        " is beyond any real model");
  }
}

std::uint32_t read_vocabulary(const gguf_file& file, const std::string& prefix) {
  const gguf_tensor* embedding = file.find_tensor("token_embd.weight");
  if (embedding == nullptr) {
    throw file.tensor_error("token_embd.weight", "is missing", "the file may be incomplete");
  }
  const std::uint64_t rows = embedding->rows();
  if (rows > std::numeric_limits<std::int32_t>::max()) {
    throw file.tensor_error(embedding->name, "has " + grouped(rows) + " rows, beyond any real vocabulary");
  }
  const auto vocabulary = static_cast<std::uint32_t>(rows);
  const std::string size_key = prefix + "vocab_size";
  if (const std::uint32_t announced = count_key(file, size_key, vocabulary); announced != vocabulary) {
    throw file.key_error(
        size_key, "is " + grouped(announced) + " but tensor token_embd.weight has " + grouped(vocabulary) + " rows");
  }
  const gguf_value* tokens = file.find("tokenizer.ggml.tokens");
  if (tokens != nullptr && tokens->type == value_type::array && tokens->count != vocabulary) {
    throw file.key_error("tokenizer.ggml.tokens", "lists " + grouped(tokens->count) +
                                                      " tokens but tensor token_embd.weight has " +
                                                      grouped(vocabulary) + " rows");
  }
  return vocabulary;
}

std::uint32_t read_token(const gguf_file& file, std::string_view key, std::uint32_t vocabulary,
                         std::optional<std::uint32_t> fallback) {
  const std::uint32_t token = count_key(file, key, fallback, 0);
  if (token >= vocabulary && file.find(key) != nullptr) {
    throw file.key_error(key, "is " + grouped(token) + " but the model has " + grouped(vocabulary) + " tokens");
  }
  return token;
}

void read_special_tokens(const gguf_file& file, model_config& config) {
  constexpr std::string_view mask_key = "tokenizer.ggml.mask_token_id", end_key = "tokenizer.ggml.eos_token_id";
  if (config.architecture == architecture::qwen2 && file.find(mask_key) == nullptr) {
    throw load_error(
        file.name(), "",
        "this qwen2 model has no mask token (tokenizer.ggml.mask_token_id) and so is not a diffusion model",
        "use a Fast-dLLM v2 conversion");
  }
  config.mask_token = read_token(file, mask_key, config.vocabulary, std::nullopt);
  config.end_token = read_token(file, end_key, config.vocabulary, std::nullopt);
  config.pad_token = read_token(file, "tokenizer.ggml.padding_token_id", config.vocabulary, gen::no_special_token);
  if (config.mask_token == config.end_token) {
    throw file.key_error(end_key, "is " + grouped(config.end_token) + ", the mask token");
  }
}

model_config read_config(const gguf_file& file) {
  model_config config;
  config.architecture = read_architecture(file);
  const std::string prefix = std::string(gen::name_of(config.architecture)) + ".";
  config.width = count_key(file, prefix + "embedding_length");
  config.layers = count_key(file, prefix + "block_count");
  read_heads(file, prefix, config);
  refuse_variants(file, prefix, config.head_length);
  config.ffn_width = count_key(file, prefix + "feed_forward_length");
  config.context = count_key(file, prefix + "context_length");
  constexpr float smallest = std::numeric_limits<float>::denorm_min(), largest = std::numeric_limits<float>::max();
  config.norm_epsilon = float_key(file, prefix + "attention.layer_norm_rms_epsilon", std::nullopt, smallest, largest);
  config.rope_base = float_key(file, prefix + "rope.freq_base", config.rope_base, 1.0f, largest);
  config.vocabulary = read_vocabulary(file, prefix);
  read_special_tokens(file, config);
  config.shift_logits = file.bool_of("diffusion.shift_logits").value_or(config.architecture != architecture::llada);
  config.tied_head = file.find_tensor("output.weight") == nullptr;
  config.decode = read_decode_defaults(file);
  return config;
}

// Collects the tensors of a model and remembers which of the file's it has used.
class tensor_collector {
 public:
  explicit tensor_collector(model& target) : model_(target), file_(*target.file) {}

  void matrix(tensor_kind kind, std::uint32_t layer, const std::string& name, std::uint32_t rows,
              std::uint32_t columns) {
    add(kind, layer, name, {columns, rows});
  }
  void vector(tensor_kind kind, std::uint32_t layer, const std::string& name, std::uint32_t length) {
    add(kind, layer, name, {length, 1});
  }

  void refuse_unused() const {
    for (const gguf_tensor& tensor : file_.tensors()) {
      if (!used_.contains(&tensor)) {
        throw file_.tensor_error(tensor.name, "is not part of architecture " +
                                                  std::string(gen::name_of(model_.config.architecture)) +
                                                  " as this platform computes it");
      }
    }
  }

 private:
  void add(tensor_kind kind, std::uint32_t layer, const std::string& name, std::array<std::uint32_t, 2> shape) {
    const gguf_tensor* tensor = file_.find_tensor(name);
    if (tensor == nullptr) {
      throw file_.tensor_error(name, "is missing", "the file may be incomplete");
    }
    if (tensor->shape != std::array<std::uint64_t, 4>{shape[0], shape[1], 1, 1}) {
      throw file_.tensor_error(name, "has shape " + tensor->shape_text() + " but the header keys demand " +
                                         std::to_string(shape[0]) +
                                         (is_vector(kind) ? "" : " x " + std::to_string(shape[1])));
    }
    const ggml_type type = tensor->type->type;
    if (!tensor->type->readable) {
      throw file_.tensor_error(name, "is " + std::string(tensor->type->name) + ", which is not supported",
                               "convert to Q8_0");
    }
    if (is_vector(kind) && type != ggml_type::f32 && type != ggml_type::f16 && type != ggml_type::bf16) {
      throw file_.tensor_error(
          name, "is " + std::string(tensor->type->name) + " but norms and biases must be F32, F16 or BF16");
    }
    used_.insert(tensor);
    model_.tensors.push_back({kind, layer, shape[1], shape[0], tensor});
  }

  model& model_;
  const gguf_file& file_;
  std::unordered_set<const gguf_tensor*> used_;
};

void collect_layer(tensor_collector& collect, const model_config& c, std::uint32_t layer) {
  const std::string blk = "blk." + std::to_string(layer) + ".";
  const std::uint32_t q_rows = c.heads * c.head_length, kv_rows = c.kv_heads * c.head_length;
  collect.vector(tensor_kind::attn_norm, layer, blk + "attn_norm.weight", c.width);
  collect.matrix(tensor_kind::attn_q, layer, blk + "attn_q.weight", q_rows, c.width);
  collect.matrix(tensor_kind::attn_k, layer, blk + "attn_k.weight", kv_rows, c.width);
  collect.matrix(tensor_kind::attn_v, layer, blk + "attn_v.weight", kv_rows, c.width);
  if (c.qkv_bias()) {
    collect.vector(tensor_kind::attn_q_bias, layer, blk + "attn_q.bias", q_rows);
    collect.vector(tensor_kind::attn_k_bias, layer, blk + "attn_k.bias", kv_rows);
    collect.vector(tensor_kind::attn_v_bias, layer, blk + "attn_v.bias", kv_rows);
  }
  collect.matrix(tensor_kind::attn_output, layer, blk + "attn_output.weight", c.width, q_rows);
  collect.vector(tensor_kind::ffn_norm, layer, blk + "ffn_norm.weight", c.width);
  collect.matrix(tensor_kind::ffn_gate, layer, blk + "ffn_gate.weight", c.ffn_width, c.width);
  collect.matrix(tensor_kind::ffn_up, layer, blk + "ffn_up.weight", c.ffn_width, c.width);
  collect.matrix(tensor_kind::ffn_down, layer, blk + "ffn_down.weight", c.width, c.ffn_width);
}

}  // namespace

bool is_vector(tensor_kind kind) {
  switch (kind) {
    case tensor_kind::output_norm:
    case tensor_kind::attn_norm:
    case tensor_kind::ffn_norm:
    case tensor_kind::attn_q_bias:
    case tensor_kind::attn_k_bias:
    case tensor_kind::attn_v_bias:
      return true;
    default:
      return false;
  }
}

model read_model(const gguf_file& file) {
  model result{.file = &file, .config = read_config(file), .tensors = {}};
  const model_config& c = result.config;
  tensor_collector collect(result);
  collect.matrix(tensor_kind::embedding, 0, "token_embd.weight", c.vocabulary, c.width);
  for (std::uint32_t layer = 0; layer < c.layers; ++layer) {
    collect_layer(collect, c, layer);
  }
  collect.vector(tensor_kind::output_norm, 0, "output_norm.weight", c.width);
  if (!c.tied_head) {
    collect.matrix(tensor_kind::output, 0, "output.weight", c.vocabulary, c.width);
  }
  collect.refuse_unused();
  return result;
}

}  // namespace dvp::loader
