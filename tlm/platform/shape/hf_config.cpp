#include "tlm/platform/shape/hf_config.h"

#include <algorithm>
#include <limits>
#include <string>

#include "dvp_gen/numbers.h"
#include "tlm/core/strict_json.h"
#include "tlm/loader/model_image.h"

namespace dvp::platform {

namespace {

constexpr std::uint64_t most = std::numeric_limits<std::int32_t>::max();

// What the two families of configurations call the same thing.
struct key_names {
  const char* width;
  const char* layers;
  const char* heads;
  const char* kv_heads;
  const char* ffn_width;
  const char* context;
  const char* tied;
};
constexpr key_names llada_keys = {
    "d_model", "n_layers", "n_heads", "n_kv_heads", "mlp_hidden_size", "max_sequence_length", "weight_tying"};
constexpr key_names qwen_keys = {"hidden_size",         "num_hidden_layers", "num_attention_heads",
                                 "num_key_value_heads", "intermediate_size", "max_position_embeddings",
                                 "tie_word_embeddings"};

constexpr core::named_value<gen::architecture> model_types[] = {
    {"llada", gen::architecture::llada},
    {"Dream", gen::architecture::dream},
    {"qwen2", gen::architecture::qwen2},
    {"Fast_dLLM_Qwen", gen::architecture::qwen2},
};

class shape_reader {
 public:
  shape_reader(const core::json_object& config, std::string file) : config_(config), file_(std::move(file)) {}

  loader::model_config read() {
    loader::model_config shape;
    shape.architecture = config_.choice("model_type", model_types);
    const bool llada = shape.architecture == gen::architecture::llada;
    const key_names& keys = llada ? llada_keys : qwen_keys;
    shape.vocabulary = count("vocab_size", 512);
    if (llada) shape.vocabulary = or_else("embedding_size", shape.vocabulary, 512);
    shape.width = count(keys.width);
    shape.layers = count(keys.layers);
    shape.heads = count(keys.heads);
    shape.kv_heads = or_else(keys.kv_heads, shape.heads);
    if (shape.heads % shape.kv_heads != 0) {
      refuse(keys.kv_heads, "is " + std::to_string(shape.kv_heads) + ", which does not divide the " +
                                std::to_string(shape.heads) + " of " + keys.heads);
    }
    if (!config_.has("head_dim") && shape.width % shape.heads != 0) {
      refuse(keys.heads, "does not divide " + std::string(keys.width) + " and there is no head_dim");
    }
    shape.head_length = or_else("head_dim", shape.width / shape.heads, 2);
    if (shape.head_length % 2 != 0) refuse("head_dim", "is odd, rotary embedding works on pairs");
    shape.ffn_width = count(keys.ffn_width);
    shape.context = std::min(count(keys.context), loader::longest_context);
    shape.norm_epsilon = static_cast<float>(config_.number("rms_norm_eps", 1e-30, 1));
    shape.rope_base = static_cast<float>(config_.number_or("rope_theta", shape.rope_base, 1, 1e30));
    shape.mask_token = token("mask_token_id", shape.vocabulary);
    shape.end_token = token("eos_token_id", shape.vocabulary);
    if (shape.mask_token == shape.end_token) refuse("mask_token_id", "is also eos_token_id");
    if (config_.has("pad_token_id")) shape.pad_token = token("pad_token_id", shape.vocabulary);
    shape.shift_logits = !llada;
    shape.tied_head = config_.flag_or(keys.tied, false);
    shape.decode.block_length = or_else("bd_size", shape.decode.block_length);
    shape.decode.sub_block_length = or_else("small_block_size", std::min(8U, shape.decode.block_length));
    if (shape.decode.block_length % shape.decode.sub_block_length != 0) {
      refuse("small_block_size", "does not divide the block of " + std::to_string(shape.decode.block_length));
    }
    whole_groups(keys.width, shape.width);
    whole_groups(keys.ffn_width, shape.ffn_width);
    return shape;
  }

 private:
  std::uint32_t count(const char* key, std::uint64_t least = 1) const {
    return static_cast<std::uint32_t>(config_.whole(key, least, most));
  }
  std::uint32_t or_else(const char* key, std::uint32_t otherwise, std::uint64_t least = 1) const {
    return static_cast<std::uint32_t>(config_.whole_or(key, otherwise, least, most));
  }
  std::uint32_t token(const char* key, std::uint32_t vocabulary) const {
    return static_cast<std::uint32_t>(config_.whole(key, 0, vocabulary - 1));
  }
  // Q8_0 rows are whole groups.
  void whole_groups(const char* key, std::uint32_t length) const {
    constexpr std::uint32_t group = gen::numbers::weight_group;
    if (length % group != 0) refuse(key, "is no multiple of the " + std::to_string(group) + " weights of a group");
  }
  [[noreturn]] void refuse(const char* key, const std::string& what) const {
    throw core::config_error(file_, key, what);
  }

  const core::json_object& config_;
  std::string file_;
};

}  // namespace

loader::model_config read_hf_config(const std::filesystem::path& path) {
  const std::string file = path.string();
  const auto document = core::parse_json(core::read_config_text(file), file);
  return shape_reader(core::json_object(document, file), file).read();
}

}  // namespace dvp::platform
