// The model image, parsed back with the generated records and compared with the file by an independent reading of
// ggml's formats in double precision.
#include "dvp_gen/image.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

#include "testbenches/unit/loader/tiny_model.h"
#include "tlm/loader/model_image.h"
#include "tlm/loader/tokenizer.h"

namespace dvp::loader {
namespace {

using namespace dvp::testbenches;

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

double half(std::uint16_t code) {
  const int exponent = code >> 10 & 31, fraction = code & 1023;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

double brain(std::uint16_t code) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{code} << 16));
}

// Element i of a tensor's data.
double element(std::uint32_t type, const std::byte* data, std::uint64_t i) {
  const auto nibble = [&](const std::byte* codes) {
    const auto byte = std::to_integer<int>(codes[i % 16]);
    return i % 32 < 16 ? byte & 15 : byte >> 4;
  };
  const std::uint64_t block = i / 32;
  switch (type) {
    case f32:
      return static_cast<double>(load<float>(data + 4 * i));
    case f16:
      return half(load<std::uint16_t>(data + 2 * i));
    case bf16:
      return brain(load<std::uint16_t>(data + 2 * i));
    case q8_0:
      return half(load<std::uint16_t>(data + 34 * block)) * load<std::int8_t>(data + 34 * block + 2 + i % 32);
    case q4_0:
      return half(load<std::uint16_t>(data + 18 * block)) * (nibble(data + 18 * block + 2) - 8);
    default:
      return half(load<std::uint16_t>(data + 20 * block)) * nibble(data + 20 * block + 4) +
             half(load<std::uint16_t>(data + 20 * block + 2));
  }
}

// The nearest bf16 of a finite value, ties to the even code, by trying both neighbours.
std::uint16_t nearest_brain(float value) {
  const auto below = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  const auto above = static_cast<std::uint16_t>(below + 1);
  const double down = std::abs(static_cast<double>(value) - brain(below));
  const double up = std::abs(static_cast<double>(value) - brain(above));
  return down < up || (down == up && below % 2 == 0) ? below : above;
}

struct image {
  byte_string bytes;
  gen::image_header header;
  std::vector<gen::tensor_entry> entries;
  image_report report;

  const std::byte* at(std::uint64_t offset) const { return bytes.data() + offset; }
};

image make_image(const gguf_file& file, const image_options& options = {}) {
  const model source = read_model(file);
  const image_layout layout = plan_image(source, options);
  image made;
  // Bytes behind the image must stay as they are, bytes inside must all be written.
  made.bytes.assign(layout.header.total_bytes + 64, std::byte{0xcd});
  made.report = write_image(source, layout, made.bytes);
  for (std::size_t i = layout.header.total_bytes; i < made.bytes.size(); ++i) {
    EXPECT_EQ(made.bytes[i], std::byte{0xcd});
  }
  made.header = load<gen::image_header>(made.at(0));
  for (std::uint32_t i = 0; i < made.header.tensor_count; ++i) {
    made.entries.push_back(load<gen::tensor_entry>(made.at(sizeof(gen::image_header) + i * sizeof(gen::tensor_entry))));
  }
  return made;
}

// Spans of the image lie 64-byte aligned, apart from each other and inside; what lies between is zero.
void check_layout(const image& made) {
  std::map<std::uint64_t, std::uint64_t> spans{
      {0, sizeof(gen::image_header) + made.entries.size() * sizeof(gen::tensor_entry)}};
  for (const gen::tensor_entry& entry : made.entries) {
    EXPECT_EQ(entry.data_offset % 64, 0u);
    EXPECT_TRUE(spans.emplace(entry.data_offset, std::uint64_t{entry.rows} * entry.row_bytes).second);
    if (entry.format == gen::tensor_format::q8_group32) {
      EXPECT_EQ(entry.row_bytes, entry.columns);
      EXPECT_EQ(entry.scale_row_bytes, entry.columns / 32 * 2);
      EXPECT_EQ(entry.scale_offset % 64, 0u);
      EXPECT_TRUE(spans.emplace(entry.scale_offset, std::uint64_t{entry.rows} * entry.scale_row_bytes).second);
    } else {
      EXPECT_EQ(entry.row_bytes, entry.columns * (entry.format == gen::tensor_format::bf16 ? 2 : 4));
      EXPECT_EQ(entry.scale_offset, 0u);
      EXPECT_EQ(entry.scale_row_bytes, 0u);
    }
  }
  std::uint64_t end = 0;
  for (const auto& [offset, bytes] : spans) {
    ASSERT_GE(offset, end);
    for (std::uint64_t i = end; i < offset; ++i) {
      ASSERT_EQ(made.bytes[i], std::byte{0}) << "byte " << i;
    }
    end = offset + bytes;
  }
  EXPECT_LE(end, made.header.total_bytes);
  EXPECT_EQ(made.header.total_bytes % 64, 0u);
}

// Every value of one entry against the tensor it came from.
void check_values(const image& made, const gen::tensor_entry& entry, const gguf_tensor& tensor) {
  const auto type = static_cast<std::uint32_t>(tensor.type->type);
  ASSERT_EQ(entry.columns, tensor.columns());
  ASSERT_EQ(entry.rows, tensor.rows());
  for (std::uint32_t row = 0; row < entry.rows; ++row) {
    for (std::uint32_t column = 0; column < entry.columns; ++column) {
      const std::uint64_t i = std::uint64_t{row} * entry.columns + column;
      const double expected = element(type, tensor.data.data(), i);
      const std::byte* data = made.at(entry.data_offset + std::uint64_t{row} * entry.row_bytes);
      if (entry.format == gen::tensor_format::fp32) {
        ASSERT_EQ(static_cast<double>(load<float>(data + 4 * column)), expected);
      } else if (entry.format == gen::tensor_format::bf16) {
        ASSERT_EQ(load<std::uint16_t>(data + 2 * column), nearest_brain(static_cast<float>(expected)))
            << tensor.name << " " << row << " " << column;
      } else {
        const auto code = load<std::int8_t>(data + column);
        const auto scale = load<std::uint16_t>(
            made.at(entry.scale_offset + std::uint64_t{row} * entry.scale_row_bytes + column / 32 * 2));
        const std::byte* block = tensor.data.data() + i / 32 * tensor.type->block_bytes;
        ASSERT_EQ(scale, load<std::uint16_t>(block));
        ASSERT_EQ(half(scale) * code, expected) << tensor.name << " " << row << " " << column;
      }
    }
  }
}

std::string name_in_file(const gen::tensor_entry& entry) {
  using kind = gen::tensor_kind;
  static const std::map<kind, std::string> names = {
      {kind::embedding, "token_embd.weight"},    {kind::output_norm, "output_norm.weight"},
      {kind::output, "output.weight"},           {kind::attn_norm, "attn_norm.weight"},
      {kind::attn_q, "attn_q.weight"},           {kind::attn_k, "attn_k.weight"},
      {kind::attn_v, "attn_v.weight"},           {kind::attn_q_bias, "attn_q.bias"},
      {kind::attn_k_bias, "attn_k.bias"},        {kind::attn_v_bias, "attn_v.bias"},
      {kind::attn_output, "attn_output.weight"}, {kind::ffn_norm, "ffn_norm.weight"},
      {kind::ffn_gate, "ffn_gate.weight"},       {kind::ffn_up, "ffn_up.weight"},
      {kind::ffn_down, "ffn_down.weight"}};
  const std::string& name = names.at(entry.kind);
  const bool outside = name.starts_with("token") || name.starts_with("output");
  return outside ? name : "blk." + std::to_string(entry.layer) + "." + name;
}

// The whole image of a file: each tensor of the file once, each value right, and the rotary table.
void check_image(const gguf_file& file, const image& made) {
  check_layout(made);
  ASSERT_EQ(made.entries.size(), file.tensors().size() + 1);
  std::uint64_t parameters = 0;
  for (std::size_t i = 0; i + 1 < made.entries.size(); ++i) {
    const gguf_tensor* tensor = file.find_tensor(name_in_file(made.entries[i]));
    ASSERT_NE(tensor, nullptr);
    check_values(made, made.entries[i], *tensor);
    parameters += tensor->rows() * tensor->columns();
  }
  EXPECT_EQ(made.report.parameters, parameters);
  EXPECT_EQ(made.report.image_bytes, made.header.total_bytes);

  const gen::tensor_entry& table = made.entries.back();
  const gen::image_header& h = made.header;
  EXPECT_EQ(table.kind, gen::tensor_kind::rope_table);
  EXPECT_EQ(table.rows, h.context);
  EXPECT_EQ(table.columns, h.head_length);
  for (std::uint32_t position = 0; position < h.context; ++position) {
    for (std::uint32_t pair = 0; pair < h.head_length / 2; ++pair) {
      const long double angle = position * std::pow(static_cast<long double>(h.rope_base),
                                                    -2.0L * pair / static_cast<long double>(h.head_length));
      const std::byte* row = made.at(table.data_offset + std::uint64_t{position} * table.row_bytes);
      // One unit in the last place of values up to 1.
      ASSERT_NEAR(load<float>(row + 4 * pair), static_cast<double>(std::cos(angle)), 0x1p-24);
      ASSERT_NEAR(load<float>(row + 4 * (h.head_length / 2 + pair)), static_cast<double>(std::sin(angle)), 0x1p-24);
    }
  }
}

TEST(image, holds_every_storage_type) {
  for (const std::uint32_t matrices : {f32, f16, bf16, q8_0, q4_0, q4_1}) {
    for (const std::uint32_t vectors : {f32, f16, bf16}) {
      SCOPED_TRACE(testing::Message() << "matrices of ggml type " << matrices << ", vectors " << vectors);
      const byte_string bytes = tiny_model({.matrices = matrices, .vectors = vectors, .seed = matrices + 7}).build();
      const gguf_file file("x.gguf", bytes);
      const image made = make_image(file);
      check_image(file, made);
      const bool grouped_codes = matrices == q8_0 || matrices == q4_0;
      EXPECT_EQ(made.entries[0].format, grouped_codes ? gen::tensor_format::q8_group32 : gen::tensor_format::bf16);
      EXPECT_EQ(made.report.notes.size(), grouped_codes || matrices == bf16 ? 0u : 1u);
    }
  }
}

TEST(image, describes_every_architecture) {
  const struct {
    const char* name;
    gen::architecture arch;
    std::uint32_t flags;
  } rows[] = {
      {"llada", gen::architecture::llada, 0},
      {"dream", gen::architecture::dream,
       gen::image_flag::shift_logits | gen::image_flag::rope_halves | gen::image_flag::qkv_bias},
      {"qwen2", gen::architecture::qwen2,
       gen::image_flag::shift_logits | gen::image_flag::rope_halves | gen::image_flag::qkv_bias |
           gen::image_flag::block_causal},
  };
  for (const auto& row : rows) {
    for (const bool tied : {false, true}) {
      gguf_writer writer = tiny_model({.architecture = row.name, .tied = tied});
      writer.set("dllm.block_length", std::uint32_t{16});
      writer.remove("tokenizer.ggml.padding_token_id");
      const byte_string bytes = writer.build();
      const gguf_file file("x.gguf", bytes);
      const image made = make_image(file);
      check_image(file, made);
      const gen::image_header& h = made.header;
      EXPECT_EQ(h.magic, 0x4d507664u);
      EXPECT_EQ(h.version, 1);
      EXPECT_EQ(h.arch, row.arch);
      EXPECT_EQ(h.flags, row.flags | (tied ? gen::image_flag::tied_head : 0u));
      EXPECT_EQ(h.vocabulary, tiny_tokens);
      EXPECT_EQ(h.width, 32u);
      EXPECT_EQ(h.layers, 2u);
      EXPECT_EQ(h.heads, 2u);
      EXPECT_EQ(h.kv_heads, row.arch == gen::architecture::llada ? 2u : 1u);
      EXPECT_EQ(h.head_length, 16u);
      EXPECT_EQ(h.ffn_width, 64u);
      EXPECT_EQ(h.context, 40u);
      EXPECT_EQ(h.norm_epsilon, 1e-5f);
      EXPECT_EQ(h.rope_base, 500000.0f);
      EXPECT_EQ(h.mask_token, tiny_mask);
      EXPECT_EQ(h.end_token, tiny_end);
      EXPECT_EQ(h.pad_token, gen::no_special_token);
      EXPECT_EQ(h.block_length, 16u);
      EXPECT_EQ(h.sub_block_length, 8u);
    }
  }
}

TEST(image, is_cut_to_the_context_limit) {
  const byte_string bytes = tiny_model({.matrices = f16}).build();
  const gguf_file file("x.gguf", bytes);
  const image made = make_image(file, {.context_limit = 10});
  EXPECT_EQ(made.header.context, 10u);
  check_image(file, made);
  ASSERT_EQ(made.report.notes.size(), 2u);
  EXPECT_EQ(made.report.notes[0],
            "16 tensors of type F16 were rounded to bf16: token_embd.weight, blk.0.attn_q.weight, blk.0.attn_k.weight, "
            "...");
  EXPECT_EQ(made.report.notes[1], "the context was cut from 40 to 10 positions");
}

TEST(image, keeps_extreme_codes_and_rounds_extreme_values) {
  gguf_writer writer = tiny_model({.matrices = f32});
  auto& tensor = writer.at("blk.0.attn_q.weight");
  // Tie to even (down, up), just above a tie, smallest subnormal, largest finite, infinity, NaN with payload, -0.
  const std::uint32_t values[] = {0x3f808000, 0x3f818000, 0x3f808001, 0x00000001,
                                  0x7f7fffff, 0xff800000, 0x7f812345, 0x80000000};
  const std::uint16_t rounded[] = {0x3f80, 0x3f82, 0x3f81, 0x0000, 0x7f80, 0xff80, 0x7fc0, 0x8000};
  std::memcpy(tensor.data.data(), values, sizeof values);
  auto& codes = writer.at("blk.0.attn_k.weight");
  codes.type = q8_0;
  codes.data = random_data(q8_0, 32 * 32, 5);
  const std::uint16_t scales[] = {0x0001, 0x7c00, 0x7e01, 0x8000};  // subnormal, infinity, NaN, -0: all untouched
  for (std::size_t block = 0; block < 4; ++block) {
    std::memcpy(codes.data.data() + 34 * block, &scales[block], 2);
    codes.data[34 * block + 2] = std::byte{0x80};  // -128
  }
  const byte_string bytes = writer.build();
  const gguf_file file("x.gguf", bytes);
  const image made = make_image(file);
  for (const gen::tensor_entry& entry : made.entries) {
    if (entry.layer == 0 && entry.kind == gen::tensor_kind::attn_q) {
      EXPECT_EQ(std::memcmp(made.at(entry.data_offset), rounded, sizeof rounded), 0);
    }
    if (entry.layer == 0 && entry.kind == gen::tensor_kind::attn_k) {
      EXPECT_EQ(std::memcmp(made.at(entry.scale_offset), scales, sizeof scales), 0);
      EXPECT_EQ(load<std::int8_t>(made.at(entry.data_offset + entry.row_bytes)), -128);
    }
  }
}

TEST(image, defaults_of_absent_keys) {
  gguf_writer writer = tiny_model();
  for (const char* key : {"llada.attention.head_count_kv", "llada.rope.freq_base", "diffusion.shift_logits"}) {
    writer.remove(key);
  }
  const byte_string bytes = writer.build();
  const gguf_file file("x.gguf", bytes);
  const model read = read_model(file);
  EXPECT_EQ(read.config.kv_heads, 2u);
  EXPECT_EQ(read.config.rope_base, 10000.0f);
  EXPECT_FALSE(read.config.shift_logits);
  EXPECT_EQ(read.config.decode.block_length, 32u);
  EXPECT_EQ(read.config.decode.sub_block_length, 8u);
  EXPECT_EQ(read.config.decode.threshold, 0.9f);
  EXPECT_EQ(read.config.decode.gen_length, 64u);
  EXPECT_EQ(read.config.decode.steps, 32u);
  EXPECT_EQ(read.config.decode.prompt_suffix, "");

  gguf_writer dream = tiny_model({.architecture = "dream"});
  dream.remove("diffusion.shift_logits");
  dream.set("dllm.block_length", std::uint64_t{4});
  dream.set("dllm.threshold", 0.75);
  dream.set("dllm.gen_length", std::uint8_t{16});
  dream.set("dllm.steps", std::int32_t{9});
  dream.set("dllm.prompt_suffix", "\n");
  const byte_string dream_bytes = dream.build();
  const gguf_file dream_file("x.gguf", dream_bytes);
  const model_config config = read_model(dream_file).config;
  EXPECT_TRUE(config.shift_logits);
  EXPECT_EQ(config.decode.sub_block_length, 4u);  // 8 does not divide 4: the block is its own sub-block
  EXPECT_EQ(config.decode.threshold, 0.75f);
  EXPECT_EQ(config.decode.gen_length, 16u);
  EXPECT_EQ(config.decode.steps, 9u);
  EXPECT_EQ(config.decode.prompt_suffix, "\n");
}

TEST(image, of_the_shipped_models) {
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator("firmware/models")) {
    if (entry.path().extension() != ".gguf" || entry.path().stem().extension() == ".compression") {
      continue;
    }
    SCOPED_TRACE(entry.path());
    const gguf_file file = gguf_file::open(entry.path());
    const image made = make_image(file);
    check_image(file, made);
    EXPECT_TRUE(made.report.notes.empty());
    EXPECT_EQ(made.header.vocabulary, 99u);
    const tokenizer tokens(file);
    const std::string text = "Sort [7, 2]: {'x'}.\n~";
    EXPECT_EQ(tokens.decode(tokens.encode(text)), text);
    EXPECT_EQ(tokens.encode("\n ~"), (std::vector<std::uint32_t>{3, 4, 98}));
    EXPECT_EQ(tokens.encode("<|mask|>", tokenizer::control::as_tokens),
              std::vector<std::uint32_t>{made.header.mask_token});
    EXPECT_EQ(read_decode_defaults(file).prompt_suffix, "\n");
    ++models;
  }
  EXPECT_GE(models, 2u) << "firmware/models should hold a llada and a qwen2 model";
}

}  // namespace
}  // namespace dvp::loader
