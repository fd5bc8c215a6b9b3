// Files that are wrong: each is refused with a load_error whose one sentence holds the expected phrase.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "testbenches/unit/loader/tiny_model.h"
#include "tlm/loader/model.h"
#include "tlm/loader/model_image.h"
#include "tlm/loader/tokenizer.h"

namespace dvp::loader {
namespace {

using namespace dvp::testbenches;

constexpr std::uint64_t u64_max = std::numeric_limits<std::uint64_t>::max();

// Everything a program does with a file. Returns the message of the load_error, or "accepted".
std::string outcome(const byte_string& bytes) {
  // A buffer of its own, exactly as long as the file, so that an address sanitizer sees the first byte too far.
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    const gguf_file file("x.gguf", {exact.get(), bytes.size()});
    const model read = read_model(file);
    const image_layout layout = plan_image(read);
    const tokenizer tokens(file);
    return "accepted";
  } catch (const load_error& error) {
    return error.what();
  }
}

void expect_phrase(const std::string& name, const std::string& message, const std::string& phrase) {
  EXPECT_NE(message.find(phrase), std::string::npos)
      << name << "\n  said:     " << message << "\n  expected: " << phrase;
  EXPECT_EQ(message.rfind("x.gguf: ", 0), 0u) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 400u) << message;
}

struct spoiled {
  const char* name;
  std::function<void(gguf_writer&)> spoil;
  const char* phrase;
};

void check(const std::vector<spoiled>& table, const tiny_options& options = {}) {
  ASSERT_EQ(outcome(tiny_model(options).build()), "accepted");
  for (const spoiled& row : table) {
    gguf_writer file = tiny_model(options);
    row.spoil(file);
    expect_phrase(row.name, outcome(file.build()), row.phrase);
  }
}

// Arrays inside arrays, `depth` of them.
byte_string nest(std::uint32_t depth) {
  byte_string value;
  for (std::uint32_t i = 1; i < depth; ++i) {
    append(value, gguf_writer::array_type);
    append(value, std::uint64_t{1});
  }
  append(value, gguf_type_number<std::uint8_t>());
  append(value, std::uint64_t{0});
  return value;
}

byte_string array_head(std::uint32_t type, std::uint64_t count) {
  byte_string value;
  append(value, type);
  append(value, count);
  return value;
}

byte_string length_only(std::uint64_t length) {
  byte_string value;
  append(value, length);
  return value;
}

TEST(hostile, headers) {
  check({
      {"magic", [](gguf_writer& f) { f.magic = 0x04034b50; }, "does not start with \"GGUF\""},
      {"swapped magic", [](gguf_writer& f) { f.magic = 0x47475546; },
       "is a big-endian GGUF file; convert it to little-endian"},
      {"big-endian", [](gguf_writer& f) { f.version = 0x03000000; }, "is a big-endian GGUF file"},
      {"version 0", [](gguf_writer& f) { f.version = 0; }, "is GGUF version 0, versions 2 and 3 are supported"},
      {"version 1", [](gguf_writer& f) { f.version = 1; }, "is GGUF version 1, versions 2 and 3 are supported"},
      {"version 4", [](gguf_writer& f) { f.version = 4; }, "is GGUF version 4"},
      {"tensor count", [](gguf_writer& f) { f.tensor_count = u64_max; },
       "the header announces 18,446,744,073,709,551,615 tensors at byte 8 but the"},
      {"key count", [](gguf_writer& f) { f.metadata_count = std::uint64_t{1} << 60; }, "metadata keys at byte 16"},
      {"one tensor too many", [](gguf_writer& f) { ++*(f.tensor_count = f.tensors.size()); }, "tensor number 21 "},
      {"one key too many", [](gguf_writer& f) { ++*(f.metadata_count = f.metadata.size()); }, "tensor number 0"},
  });
}

TEST(hostile, metadata) {
  check({
      {"duplicate key",
       [](gguf_writer& f) {
         f.metadata.push_back({"llada.block_count", 4, {std::byte{1}, {}, {}, {}}});
       },
       "key llada.block_count appears twice; the file is damaged"},
      {"empty key", [](gguf_writer& f) { f.set("", true); }, "has a key of 0 bytes"},
      {"long key", [](gguf_writer& f) { f.set(std::string(65536, 'k'), true); }, "has a key of 65,536 bytes"},
      {"control characters in a key", [](gguf_writer& f) { f.set_raw("a\n\x1b[2J", 99, {}); },
       "key a\\x0a\\x1b[2J has value type 99"},
      {"value type", [](gguf_writer& f) { f.set_raw("t", 13, {}); },
       "key t has value type 13, which GGUF does not define"},
      {"boolean", [](gguf_writer& f) { f.set_raw("t", 7, {std::byte{2}}); }, "key t is a boolean of value 2"},
      {"boolean in array",
       [](gguf_writer& f) {
         byte_string value = array_head(7, 2);
         value.insert(value.end(), {std::byte{1}, std::byte{9}});
         f.set_raw("t", 9, value);
       },
       "key t is a boolean of value 9"},
      {"string longer than the file", [](gguf_writer& f) { f.set_raw("t", 8, length_only(std::uint64_t{1} << 40)); },
       "key t has a string of 1,099,511,627,776 bytes"},
      {"string of every byte there is", [](gguf_writer& f) { f.set_raw("t", 8, length_only(u64_max)); },
       "key t has a string of 18,446,744,073,709,551,615 bytes"},
      {"array count", [](gguf_writer& f) { f.set_raw("t", 9, array_head(4, u64_max / 4 + 2)); }, "key t announces"},
      {"array of strings", [](gguf_writer& f) { f.set_raw("t", 9, array_head(8, u64_max)); }, "elements at byte"},
      {"array of arrays", [](gguf_writer& f) { f.set_raw("t", 9, array_head(9, u64_max)); }, "elements at byte"},
      {"array element type", [](gguf_writer& f) { f.set_raw("t", 9, array_head(77, 0)); }, "key t has value type 77"},
      {"nesting", [](gguf_writer& f) { f.set_raw("t", 9, nest(5)); }, "key t nests arrays deeper than 4"},
      {"deep nesting", [](gguf_writer& f) { f.set_raw("t", 9, nest(100000)); }, "key t nests arrays deeper than 4"},
      {"alignment 0", [](gguf_writer& f) { f.set("general.alignment", std::uint32_t{0}); },
       "key general.alignment is 0, which is not a power of two"},
      {"alignment 48", [](gguf_writer& f) { f.set("general.alignment", std::uint32_t{48}); },
       "key general.alignment is 48, which is not a power of two"},
      {"alignment 2^63", [](gguf_writer& f) { f.set("general.alignment", std::uint64_t{1} << 63); },
       "key general.alignment is"},
      {"alignment text", [](gguf_writer& f) { f.set("general.alignment", "32"); },
       "key general.alignment is a string, an integer is expected"},
      {"alignment behind the file", [](gguf_writer& f) { f.set("general.alignment", std::uint32_t{1} << 31); },
       "but the file has"},
  });
}

TEST(hostile, tensor_tables) {
  const auto tensor = [](gguf_writer& f) -> gguf_writer::tensor& { return f.at("blk.0.attn_q.weight"); };
  check({
      {"duplicate tensor", [](gguf_writer& f) { f.tensors.push_back(f.tensors[3]); }, "appears twice"},
      {"empty name", [&](gguf_writer& f) { tensor(f).name = ""; }, "tensor number 2 has a name of 0 bytes"},
      {"long name", [&](gguf_writer& f) { tensor(f).name = std::string(65, 'n'); }, "has a name of 65 bytes, 1 to 64"},
      {"no dimension", [&](gguf_writer& f) { tensor(f).shape = {}; }, "has 0 dimensions, 1 to 4"},
      {"five dimensions",
       [&](gguf_writer& f) {
         tensor(f).shape = {32, 1, 1, 1, 1};
       },
       "attn_q.weight has 5 dimensions"},
      {"zero dimension",
       [&](gguf_writer& f) {
         tensor(f).shape = {32, 0};
       },
       "has a dimension of zero"},
      {"shape overflow",
       [&](gguf_writer& f) {
         tensor(f).shape = {1u << 31, 1u << 31, 4};
       },
       "has a shape whose size overflows"},
      {"shape wraps to its true size",
       [&](gguf_writer& f) {
         tensor(f).shape = {32, (std::uint64_t{1} << 59) + 32};
       },
       "has a shape whose size overflows"},
      {"tensor type", [&](gguf_writer& f) { tensor(f).type = 77; },
       "has type number 77, which is not a tensor type of ggml"},
      {"removed tensor type", [&](gguf_writer& f) { tensor(f).type = 4; }, "has type number 4"},
      {"part of a block",
       [&](gguf_writer& f) {
         tensor(f).shape = {48, 32};
       },
       "is Q8_0 with rows of 48 values, which is not a multiple of 32"},
      {"misaligned", [&](gguf_writer& f) { tensor(f).offset = 33; },
       "starts at data offset 33, which is not a multiple"},
      {"overlap", [&](gguf_writer& f) { tensor(f).offset = 0; }, "overlaps tensor"},
      {"past the end", [&](gguf_writer& f) { tensor(f).offset = std::uint64_t{1} << 40; },
       "tensor blk.0.attn_q.weight ends at byte 1,099,511,63"},
      {"offset wraps", [&](gguf_writer& f) { tensor(f).offset = u64_max - 31; }, "far behind any file"},
      {"rows past the end",
       [&](gguf_writer& f) {
         tensor(f).shape = {32, std::uint64_t{1} << 50};
       },
       "the download may be incomplete"},
      {"unreadable type", [&](gguf_writer& f) { f.at("token_embd.weight").type = 24; },
       "tensor token_embd.weight is I8, which is not supported; convert to Q8_0"},
  });
}

TEST(hostile, k_quants_are_named) {
  gguf_writer file = tiny_model({.matrices = f32});
  file.set("llada.embedding_length", std::uint32_t{256});
  file.at("token_embd.weight") = {"token_embd.weight", {256, 16}, q4_k, random_data(q4_k, 256 * 16, 1), {}};
  EXPECT_EQ(outcome(file.build()), "x.gguf: tensor token_embd.weight is Q4_K, which is not supported; convert to Q8_0");
}

TEST(hostile, models) {
  const auto u32 = [](const char* key, std::uint32_t value) { return [=](gguf_writer& f) { f.set(key, value); }; };
  const auto without = [](const char* key) { return [=](gguf_writer& f) { f.remove(key); }; };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  check({
      {"architecture", [](gguf_writer& f) { f.set("general.architecture", "gemma"); },
       "x.gguf: architecture gemma is not one of llada, dream, qwen2"},
      {"architecture type", u32("general.architecture", 1), "key general.architecture is an u32, a string is expected"},
      {"no architecture", without("general.architecture"), "key general.architecture is missing"},
      {"no width", without("llada.embedding_length"), "key llada.embedding_length is missing"},
      {"width 0", u32("llada.embedding_length", 0), "key llada.embedding_length is 0, 1 to 2,147,483,647 is expected"},
      {"width float", [](gguf_writer& f) { f.set("llada.embedding_length", 32.0f); },
       "is a f32, an integer is expected"},
      {"layers 3", u32("llada.block_count", 3), "tensor blk.2.attn_norm.weight is missing"},
      {"layers 2^31-1", u32("llada.block_count", 0x7fffffff), "tensor blk.2.attn_norm.weight is missing"},
      {"layers 1", u32("llada.block_count", 1), "tensor blk.1.attn_norm.weight is not part of architecture llada"},
      {"no heads", without("llada.attention.head_count"), "key llada.attention.head_count is missing"},
      {"heads per layer",
       [](gguf_writer& f) {
         f.set_array<std::uint32_t>("llada.attention.head_count", {2, 2});
       },
       "is an array of u32, an integer is expected"},
      {"kv heads", u32("llada.attention.head_count_kv", 3), "is 2, which is not a multiple of the 3 key-value heads"},
      {"width and heads", u32("llada.embedding_length", 33), "does not divide into 2 heads"},
      {"odd head", u32("llada.attention.key_length", 15), "head length 15 is not even"},
      {"more heads than width",
       [](gguf_writer& f) {
         f.set("llada.embedding_length", std::uint32_t{1});
         f.set("llada.attention.head_count", std::uint32_t{1});
         f.set("llada.attention.head_count_kv", std::uint32_t{1});
       },
       "head length 1 is not even"},
      {"heads overflow",
       [](gguf_writer& f) {
         f.set("llada.attention.head_count", std::uint32_t{1} << 30);
         f.set("llada.attention.key_length", std::uint32_t{1} << 30);
       },
       "is beyond any real model"},
      {"head length", u32("llada.attention.key_length", 32),
       "tensor blk.0.attn_q.weight has shape 32 x 32 but the header keys demand 32 x 64"},
      {"partial rotary", u32("llada.rope.dimension_count", 8), "partial rotary embedding is not supported"},
      {"value length", u32("llada.attention.value_length", 8), "differs from the key length 16"},
      {"rope scaling", [](gguf_writer& f) { f.set("llada.rope.scaling.type", "yarn"); },
       "is yarn, rotary scaling is not"},
      {"no ffn", without("llada.feed_forward_length"), "key llada.feed_forward_length is missing"},
      {"ffn", u32("llada.feed_forward_length", 65),
       "ffn_gate.weight has shape 32 x 64 but the header keys demand 32 x 65"},
      {"no context", without("llada.context_length"), "key llada.context_length is missing"},
      {"context 2^32-1", u32("llada.context_length", 0xffffffff), "is 4,294,967,295"},
      {"no epsilon", without("llada.attention.layer_norm_rms_epsilon"), "rms_epsilon is missing"},
      {"epsilon nan", [=](gguf_writer& f) { f.set("llada.attention.layer_norm_rms_epsilon", nan); }, "is nan"},
      {"epsilon 0", [](gguf_writer& f) { f.set("llada.attention.layer_norm_rms_epsilon", 0.0f); }, "is 0, "},
      {"rope base", [](gguf_writer& f) { f.set("llada.rope.freq_base", -1.0f); },
       "key llada.rope.freq_base is -1, 1 to "},
      {"rope base infinite", [](gguf_writer& f) { f.set("llada.rope.freq_base", HUGE_VALF); }, "is inf"},
      {"no mask", without("tokenizer.ggml.mask_token_id"), "key tokenizer.ggml.mask_token_id is missing"},
      {"mask", u32("tokenizer.ggml.mask_token_id", 16), "is 16 but the model has 16 tokens"},
      {"no end", without("tokenizer.ggml.eos_token_id"), "key tokenizer.ggml.eos_token_id is missing"},
      {"mask is end", u32("tokenizer.ggml.eos_token_id", 1), "is 1, the mask token"},
      {"pad", u32("tokenizer.ggml.padding_token_id", 4000), "is 4,000 but the model has 16 tokens"},
      {"vocabulary", u32("llada.vocab_size", 17), "is 17 but tensor token_embd.weight has 16 rows"},
      {"tokens", [](gguf_writer& f) { f.set_array<std::string>("tokenizer.ggml.tokens", {"a"}); },
       "lists 1 tokens but tensor token_embd.weight has 16 rows"},
      {"shift", u32("diffusion.shift_logits", 1), "key diffusion.shift_logits is an u32, a boolean is expected"},
      {"no embedding", [](gguf_writer& f) { f.remove_tensor("token_embd.weight"); },
       "tensor token_embd.weight is missing"},
      {"no down", [](gguf_writer& f) { f.remove_tensor("blk.1.ffn_down.weight"); },
       "tensor blk.1.ffn_down.weight is missing"},
      {"no norm", [](gguf_writer& f) { f.remove_tensor("output_norm.weight"); },
       "tensor output_norm.weight is missing"},
      {"extra tensor",
       [](gguf_writer& f) {
         f.tensors.push_back({"blk.0.attn_q.bias", {32}, f32, random_data(f32, 32, 1), {}});
       },
       "tensor blk.0.attn_q.bias is not part of architecture llada"},
      {"three dimensions",
       [](gguf_writer& f) {
         f.at("blk.0.attn_q.weight").shape = {32, 16, 2};
       },
       "has shape 32 x 16 x 2"},
      {"transposed down",
       [](gguf_writer& f) {
         f.at("blk.0.ffn_down.weight").shape = {32, 64};
       },
       "has shape 32 x 64 but the header keys demand 64 x 32"},
      {"norm in q8", [](gguf_writer& f) { f.at("blk.0.ffn_norm.weight").type = q8_0; },
       "is Q8_0 but norms and biases must be F32, F16 or BF16"},
      {"block 0", u32("dllm.block_length", 0), "key dllm.block_length is 0"},
      {"sub-block", u32("dllm.sub_block_length", 5), "is 5, which does not divide the block length 32"},
      {"threshold", [](gguf_writer& f) { f.set("dllm.threshold", 1.5f); },
       "key dllm.threshold is 1.5, 0 to 1 is expected"},
      {"suffix", u32("dllm.prompt_suffix", 10), "key dllm.prompt_suffix is an u32, a string is expected"},
  });
}

TEST(hostile, biased_models) {
  check(
      {{"no mask", [](gguf_writer& f) { f.remove("tokenizer.ggml.mask_token_id"); }, "is not a diffusion model"},
       {"no bias", [](gguf_writer& f) { f.remove_tensor("blk.1.attn_k.bias"); }, "tensor blk.1.attn_k.bias is missing"},
       {"bias", [](gguf_writer& f) { f.at("blk.1.attn_k.bias").shape = {8}; },
        "blk.1.attn_k.bias has shape 8 but the header keys demand 16"}},
      {.architecture = "qwen2"});
}

TEST(hostile, tokenizers) {
  const auto merges = [](const std::vector<std::string>& list) {
    return [=](gguf_writer& f) { f.set_array("tokenizer.ggml.merges", list); };
  };
  check(
      {
          {"no model", [](gguf_writer& f) { f.remove("tokenizer.ggml.model"); }, "key tokenizer.ggml.model is missing"},
          {"model", [](gguf_writer& f) { f.set("tokenizer.ggml.model", "llama"); }, "is llama, only gpt2"},
          {"no tokens", [](gguf_writer& f) { f.remove("tokenizer.ggml.tokens"); },
           "key tokenizer.ggml.tokens is missing"},
          {"tokens", [](gguf_writer& f) { f.set("tokenizer.ggml.tokens", std::uint32_t{1}); },
           "an array of string is expected"},
          {"few types",
           [](gguf_writer& f) {
             f.set_array<std::int32_t>("tokenizer.ggml.token_type", {1, 1});
           },
           "has 2 entries for 16 tokens"},
          {"type 9", [](gguf_writer& f) { f.set_array("tokenizer.ggml.token_type", std::vector<std::int32_t>(16, 9)); },
           "gives token 0 the type 9, 1 to 6 are known"},
          {"pre", [](gguf_writer& f) { f.set("tokenizer.ggml.pre", "tekken"); },
           "is tekken, only default, gpt-2 and qwen2"},
          {"merge of one", merges({"ab"}), "entry 0 (ab) is not two spellings with a space between"},
          {"merge of nothing", merges({"a b", ""}), "entry 1 () is not two spellings"},
          {"merge half", merges({"a "}), "entry 0 (a ) is not two spellings"},
          {"merge of strangers", merges({"a z"}), "entry 0 (a z) needs z, which is not a token"},
          {"merge to a stranger", merges({"b a"}), "needs ba, which is not a token"},
          {"bos", [](gguf_writer& f) { f.set("tokenizer.ggml.add_bos_token", true); }, "bos_token_id is missing"},
      },
      {.merges = true});
}

// A file cut anywhere is refused; where its data is cut, the message counts bytes.
TEST(hostile, truncation_anywhere) {
  for (const byte_string& whole : seed_files()) {
    const gguf_file intact("x.gguf", whole);
    std::uint64_t data_start = whole.size(), data_end = 0;
    for (const gguf_tensor& tensor : intact.tensors()) {
      data_start = std::min(data_start, tensor.offset);
      data_end = std::max(data_end, tensor.offset + tensor.data.size());
    }
    for (std::size_t length = 0; length < data_end; length += length < data_start ? 1 : 97) {
      const std::string message = outcome(byte_string(whole.begin(), whole.begin() + length));
      expect_phrase("cut at " + std::to_string(length), message, "");
      ASSERT_NE(message, "accepted") << length;
      if (length > data_start) {
        expect_phrase("cut at " + std::to_string(length), message, "; the download may be incomplete");
      }
    }
  }
}

TEST(hostile, image_larger_than_its_room) {
  const byte_string bytes = tiny_model().build();
  const gguf_file file("x.gguf", bytes);
  const model read = read_model(file);
  const image_layout layout = plan_image(read);
  byte_string room(layout.header.total_bytes - 1, std::byte{0xee});
  try {
    write_image(read, layout, room);
    FAIL();
  } catch (const load_error& error) {
    expect_phrase("room", error.what(), "but there is room for");
  }
  EXPECT_EQ(room[0], std::byte{0xee});
  EXPECT_THROW(plan_image(read, {.context_limit = 0}), load_error);
  EXPECT_THROW(plan_image(read, {.context_limit = longest_context + 1}), load_error);
}

}  // namespace
}  // namespace dvp::loader
