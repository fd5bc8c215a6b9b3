#include "tlm/loader/shape_header.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

#include "tlm/loader/byte_spelling.h"
#include "tlm/loader/ggml_type.h"
#include "tlm/loader/gguf.h"
#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

constexpr std::uint32_t magic = 0x46554747;  // "GGUF"
constexpr std::uint32_t version = 3;
constexpr std::uint64_t alignment = 32;
constexpr std::int32_t normal_token = 1, control_token = 3;

// Little-endian, as the host is.
class byte_writer {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put_text(std::string_view text) {
    put<std::uint64_t>(text.size());
    bytes_.append(text);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class metadata_writer {
 public:
  void number(std::string_view key, std::uint32_t value) {
    begin(key, value_type::u32);
    out_.put(value);
  }
  void real(std::string_view key, float value) {
    begin(key, value_type::f32);
    out_.put(value);
  }
  void truth(std::string_view key, bool value) {
    begin(key, value_type::boolean);
    out_.put<std::uint8_t>(value ? 1 : 0);
  }
  void text(std::string_view key, std::string_view value) {
    begin(key, value_type::string);
    out_.put_text(value);
  }
  void texts(std::string_view key, const std::vector<std::string>& values) {
    begin_array(key, value_type::string, values.size());
    for (const std::string& each : values) out_.put_text(each);
  }
  void integers(std::string_view key, const std::vector<std::int32_t>& values) {
    begin_array(key, value_type::i32, values.size());
    for (const std::int32_t each : values) out_.put(each);
  }
  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return out_.bytes(); }

 private:
  void begin(std::string_view key, value_type type) {
    out_.put_text(key);
    out_.put(static_cast<std::uint32_t>(type));
    ++count_;
  }
  void begin_array(std::string_view key, value_type element, std::uint64_t length) {
    begin(key, value_type::array);
    out_.put(static_cast<std::uint32_t>(element));
    out_.put(length);
  }

  byte_writer out_;
  std::uint64_t count_ = 0;
};

class tensor_writer {
 public:
  void matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns) {
    add(name, {columns, rows}, ggml_type::q8_0);
  }
  void vector(const std::string& name, std::uint64_t length) { add(name, {length}, ggml_type::f32); }
  std::uint64_t count() const { return count_; }
  const std::string& bytes() const { return out_.bytes(); }

 private:
  void add(const std::string& name, std::initializer_list<std::uint64_t> shape, ggml_type type) {
    const ggml_type_info& info = *find_ggml_type(static_cast<std::uint32_t>(type));
    std::uint64_t elements = 1;
    out_.put_text(name);
    out_.put(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t extent : shape) {
      out_.put(extent);
      elements *= extent;
    }
    out_.put(static_cast<std::uint32_t>(type));
    out_.put(offset_);
    const std::uint64_t bytes = elements / info.block_elements * info.block_bytes;
    offset_ += (bytes + alignment - 1) / alignment * alignment;
    ++count_;
  }

  byte_writer out_;
  std::uint64_t offset_ = 0;
  std::uint64_t count_ = 0;
};

std::string spelling(std::uint8_t byte) {
  std::string text;
  append_utf8(text, spelling_of(byte));
  return text;
}

void write_tokenizer(metadata_writer& keys, const model_config& shape) {
  std::vector<std::string> tokens(shape.vocabulary);
  std::vector<std::int32_t> kinds(shape.vocabulary, normal_token);
  for (std::uint32_t i = 0; i < shape.vocabulary; ++i) {
    tokens[i] = i < 256 ? spelling(static_cast<std::uint8_t>(i)) : "<" + std::to_string(i) + ">";
  }
  for (const std::uint32_t special : {shape.mask_token, shape.end_token, shape.pad_token}) {
    if (special < shape.vocabulary) kinds[special] = control_token;
  }
  keys.text("tokenizer.ggml.model", "gpt2");
  keys.text("tokenizer.ggml.pre", "default");
  keys.texts("tokenizer.ggml.tokens", tokens);
  keys.integers("tokenizer.ggml.token_type", kinds);
  keys.texts("tokenizer.ggml.merges", {});
  keys.number("tokenizer.ggml.mask_token_id", shape.mask_token);
  keys.number("tokenizer.ggml.eos_token_id", shape.end_token);
  if (shape.pad_token != gen::no_special_token) keys.number("tokenizer.ggml.padding_token_id", shape.pad_token);
}

void write_keys(metadata_writer& keys, const model_config& shape) {
  const std::string a = std::string(gen::name_of(shape.architecture)) + ".";
  keys.text("general.architecture", gen::name_of(shape.architecture));
  keys.number(a + "embedding_length", shape.width);
  keys.number(a + "block_count", shape.layers);
  keys.number(a + "attention.head_count", shape.heads);
  keys.number(a + "attention.head_count_kv", shape.kv_heads);
  keys.number(a + "attention.key_length", shape.head_length);
  keys.number(a + "attention.value_length", shape.head_length);
  keys.number(a + "feed_forward_length", shape.ffn_width);
  keys.number(a + "context_length", shape.context);
  keys.real(a + "attention.layer_norm_rms_epsilon", shape.norm_epsilon);
  keys.real(a + "rope.freq_base", shape.rope_base);
  keys.truth("diffusion.shift_logits", shape.shift_logits);
  keys.number("dllm.block_length", shape.decode.block_length);
  keys.number("dllm.sub_block_length", shape.decode.sub_block_length);
  keys.real("dllm.threshold", shape.decode.threshold);
  keys.number("dllm.gen_length", shape.decode.gen_length);
  keys.number("dllm.steps", shape.decode.steps);
  write_tokenizer(keys, shape);
}

void write_tensors(tensor_writer& tensors, const model_config& shape) {
  const std::uint64_t queries = std::uint64_t{shape.heads} * shape.head_length;
  const std::uint64_t keys = std::uint64_t{shape.kv_heads} * shape.head_length;
  tensors.matrix("token_embd.weight", shape.vocabulary, shape.width);
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    tensors.vector(blk + "attn_norm.weight", shape.width);
    tensors.matrix(blk + "attn_q.weight", queries, shape.width);
    tensors.matrix(blk + "attn_k.weight", keys, shape.width);
    tensors.matrix(blk + "attn_v.weight", keys, shape.width);
    if (shape.qkv_bias()) {
      tensors.vector(blk + "attn_q.bias", queries);
      tensors.vector(blk + "attn_k.bias", keys);
      tensors.vector(blk + "attn_v.bias", keys);
    }
    tensors.matrix(blk + "attn_output.weight", shape.width, queries);
    tensors.vector(blk + "ffn_norm.weight", shape.width);
    tensors.matrix(blk + "ffn_gate.weight", shape.ffn_width, shape.width);
    tensors.matrix(blk + "ffn_up.weight", shape.ffn_width, shape.width);
    tensors.matrix(blk + "ffn_down.weight", shape.width, shape.ffn_width);
  }
  tensors.vector("output_norm.weight", shape.width);
  if (!shape.tied_head) tensors.matrix("output.weight", shape.vocabulary, shape.width);
}

}  // namespace

std::vector<std::byte> shape_header(const model_config& shape) {
  metadata_writer keys;
  write_keys(keys, shape);
  tensor_writer tensors;
  write_tensors(tensors, shape);
  byte_writer file;
  file.put(magic);
  file.put(version);
  file.put(tensors.count());
  file.put(keys.count());
  const std::string text = file.bytes() + keys.bytes() + tensors.bytes();
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

}  // namespace dvp::loader
