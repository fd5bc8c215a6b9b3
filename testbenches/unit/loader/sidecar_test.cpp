// The compression sidecar: what is read of a good one and where its tensors land in the model image; tables of wrong
// ones, each refused with a load_error whose one sentence holds the expected phrase.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "testbenches/unit/loader/tiny_model.h"
#include "testbenches/unit/loader/tiny_sidecar.h"
#include "tlm/loader/compression_sidecar.h"
#include "tlm/loader/model_image.h"
#include "tlm/loader/sha256.h"

namespace dvp::loader {
namespace {

using namespace dvp::testbenches;
using gen::tensor_kind;

constexpr float infinity = std::numeric_limits<float>::infinity();

// Everything a program does with a sidecar alone. Returns the message of the load_error, or "accepted".
std::string outcome(const byte_string& bytes) {
  // A buffer of its own, exactly as long as the file, so that an address sanitizer sees the first byte too far.
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), exact.get());
  try {
    const gguf_file file("x.gguf", {exact.get(), bytes.size()});
    read_sidecar(file);
    return "accepted";
  } catch (const load_error& error) {
    return error.what();
  }
}

struct spoiled {
  const char* name;
  std::function<void(gguf_writer&)> spoil;
  const char* phrase;
};

void check(const std::vector<spoiled>& table, const sidecar_options& options = {}) {
  ASSERT_EQ(outcome(tiny_sidecar(options).build()), "accepted");
  for (const spoiled& row : table) {
    gguf_writer file = tiny_sidecar(options);
    row.spoil(file);
    const std::string message = outcome(file.build());
    EXPECT_NE(message.find(row.phrase), std::string::npos)
        << row.name << "\n  said:     " << message << "\n  expected: " << row.phrase;
    EXPECT_EQ(message.rfind("x.gguf: ", 0), 0u) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_LT(message.size(), 400u) << message;
  }
}

template <typename T>
void put(gguf_writer& file, const char* tensor, std::size_t index, T value) {
  std::memcpy(file.at(tensor).data.data() + index * sizeof(T), &value, sizeof(T));
}

std::string key(const char* name) {
  return std::string("dvp.compression.") + name;
}

TEST(sha256, of_known_texts) {
  // FIPS 180-2, appendix B, and the empty text.
  const auto digest = [](std::string_view text) { return sha256(std::as_bytes(std::span(text))); };
  EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(sidecar, is_read_as_written) {
  const byte_string bytes = tiny_sidecar({.seed = 7}).build();
  const gguf_file file("x.gguf", bytes);
  const compression_sidecar s = read_sidecar(file);
  EXPECT_EQ(s.model_sha256, std::string(64, '0'));
  EXPECT_EQ(s.model, "tiny");
  EXPECT_EQ(s.data, "made up");
  EXPECT_EQ(s.tool, "tiny_sidecar");
  EXPECT_EQ(s.seed, 7u);
  EXPECT_EQ(s.layers, 2u);
  EXPECT_EQ(s.width, 32u);
  EXPECT_EQ(s.ffn_width, 64u);
  EXPECT_EQ(s.group, 32u);
  EXPECT_EQ(s.scale_slots, 16u);
  EXPECT_EQ(s.correction_rank, 2u);
  EXPECT_EQ(s.basis_tokens, 64u);
  EXPECT_EQ(s.shares, (std::array<float, 3>{0.5f, 0.25f, 0.125f}));
  EXPECT_EQ(s.settings[0].gain, 0.0f);
  EXPECT_EQ(s.settings[6].gain, 1.5f);
  EXPECT_EQ(s.settings[6].q8, 0.5f);
  EXPECT_EQ(s.settings[6].q4, 0.25f);
  EXPECT_EQ(s.tensors.size(), 2u * 9u);
  const byte_string plain = tiny_sidecar({.correction_rank = 0}).build();
  EXPECT_EQ(read_sidecar(gguf_file("y.gguf", plain)).tensors.size(), 2u * 3u);
}

// The image's directory and bytes, found by kind and layer and compared with what the writer was given.
TEST(sidecar, its_tensors_lie_in_the_image_unchanged) {
  const byte_string model_bytes = tiny_model({.architecture = "qwen2"}).build();
  const gguf_file model_file("m.gguf", model_bytes);
  const model source = read_model(model_file);
  gguf_writer writer = tiny_sidecar({.model_sha256 = sha256(model_bytes)});
  const byte_string bytes = writer.build();
  const gguf_file file("x.gguf", bytes);
  const compression_sidecar s = read_sidecar(file);
  require_made_for(s, source);

  const image_layout without = plan_image(source);
  const image_layout layout = plan_image(source, {.sidecar = &s});
  std::vector<std::byte> image(layout.header.total_bytes, std::byte{0xee});
  write_image(source, layout, image);
  gen::image_header header;
  std::memcpy(&header, image.data(), sizeof header);
  ASSERT_EQ(header.tensor_count, without.entries.size() + s.tensors.size());
  std::vector<gen::tensor_entry> entries(header.tensor_count);
  std::memcpy(entries.data(), image.data() + sizeof header, entries.size() * sizeof entries[0]);
  EXPECT_EQ(entries.back().kind, tensor_kind::rope_table);

  const struct {
    tensor_kind kind;
    const char* name;
    gen::tensor_format format;
    std::uint32_t rows, columns, row_bytes;
  } rows[] = {
      {tensor_kind::ffn_channels, "ffn_channels.codes", gen::tensor_format::q8_channels, 64, 96, 96},
      {tensor_kind::ffn_importance, "ffn_importance", gen::tensor_format::fp32, 1, 64, 256},
      {tensor_kind::ffn_views, "ffn_views", gen::tensor_format::words, 1, 2, 8},
      {tensor_kind::correction_q4_inputs, "correction_q4.inputs", gen::tensor_format::bf16, 4, 32, 64},
      {tensor_kind::correction_q4_channels, "correction_q4.channels", gen::tensor_format::bf16, 64, 6, 12},
      {tensor_kind::correction_q4_outputs, "correction_q4.outputs", gen::tensor_format::bf16, 32, 2, 4},
      {tensor_kind::correction_q2_inputs, "correction_q2.inputs", gen::tensor_format::bf16, 4, 32, 64},
      {tensor_kind::correction_q2_channels, "correction_q2.channels", gen::tensor_format::bf16, 64, 6, 12},
      {tensor_kind::correction_q2_outputs, "correction_q2.outputs", gen::tensor_format::bf16, 32, 2, 4},
  };
  const auto holds = [&](std::uint64_t offset, const byte_string& expected) {
    return offset % 64 == 0 && offset + expected.size() <= image.size() &&
           std::equal(expected.begin(), expected.end(), image.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  for (std::uint32_t layer = 0; layer < 2; ++layer) {
    for (const auto& row : rows) {
      SCOPED_TRACE(testing::Message() << row.name << " of layer " << layer);
      const auto found = std::find_if(entries.begin(), entries.end(), [&](const gen::tensor_entry& e) {
        return e.kind == row.kind && e.layer == layer;
      });
      ASSERT_NE(found, entries.end());
      EXPECT_EQ(found->format, row.format);
      EXPECT_EQ(found->rows, row.rows);
      EXPECT_EQ(found->columns, row.columns);
      EXPECT_EQ(found->row_bytes, row.row_bytes);
      const std::string blk = "blk." + std::to_string(layer) + ".";
      EXPECT_TRUE(holds(found->data_offset, writer.at(blk + row.name).data));
      const bool scaled = row.kind == tensor_kind::ffn_channels;
      EXPECT_EQ(found->scale_row_bytes, scaled ? 3u * 16u * 2u : 0u);
      EXPECT_TRUE(!scaled || holds(found->scale_offset, writer.at(blk + "ffn_channels.scales").data));
    }
  }
}

TEST(sidecar, of_another_model_is_refused) {
  const byte_string model_bytes = tiny_model({.architecture = "qwen2"}).build();
  const gguf_file model_file("m.gguf", model_bytes);
  const model source = read_model(model_file);
  const auto refusal = [&](const sidecar_options& options) -> std::string {
    const byte_string bytes = tiny_sidecar(options).build();
    const gguf_file file("x.gguf", bytes);
    try {
      require_made_for(read_sidecar(file), source);
      return "accepted";
    } catch (const load_error& error) {
      return error.what();
    }
  };
  const std::string digest = sha256(model_bytes);
  EXPECT_EQ(refusal({.model_sha256 = digest}), "accepted");
  const std::string other = refusal({});
  for (const std::string& phrase :
       {std::string("x.gguf: was made for a model file tiny of SHA-256 ") + std::string(64, '0'),
        "m.gguf has " + digest, std::string("scripts/calibrate")}) {
    EXPECT_NE(other.find(phrase), std::string::npos) << other;
  }
  EXPECT_NE(
      refusal({.model_sha256 = digest, .layers = 1}).find("holds 1 layers of 64 channels and width 32 and m.gguf"),
      std::string::npos);
  EXPECT_NE(refusal({.model_sha256 = digest, .width = 64}).find("width 64"), std::string::npos);
  EXPECT_NE(refusal({.model_sha256 = digest, .channels = 32}).find("of 32 channels"), std::string::npos);
}

TEST(sidecar, wrong_keys) {
  check({
      {"architecture", [](gguf_writer& f) { f.set("general.architecture", "qwen2"); },
       "architecture qwen2 is no compression sidecar (dvp-compression); give a file that scripts/calibrate wrote"},
      {"no architecture", [](gguf_writer& f) { f.remove("general.architecture"); }, "a file without architecture"},
      {"version", [](gguf_writer& f) { f.set(key("version"), std::uint32_t{2}); },
       "key dvp.compression.version is 2, 1 to 1 is expected"},
      {"short hash", [](gguf_writer& f) { f.set(key("model_sha256"), std::string(63, 'a')); },
       "64 lower-case hexadecimal digits are expected"},
      {"hash of capitals", [](gguf_writer& f) { f.set(key("model_sha256"), std::string(64, 'A')); },
       "64 lower-case hexadecimal digits are expected"},
      {"control characters", [](gguf_writer& f) { f.set(key("model_sha256"), std::string("\n\x1b[2J")); },
       "\\x0a\\x1b"},
      {"group", [](gguf_writer& f) { f.set(key("group"), std::uint32_t{128}); },
       "key dvp.compression.group is 128, 32 to 32 is expected"},
      {"negative", [](gguf_writer& f) { f.set(key("seed"), std::int32_t{-1}); }, "dvp.compression.seed is negative"},
      {"rank", [](gguf_writer& f) { f.set(key("correction_rank"), std::uint32_t{65}); }, "0 to 64 is expected"},
      {"basis", [](gguf_writer& f) { f.set(key("basis_tokens"), std::uint32_t{0}); }, "basis_tokens is 0, 1 to"},
      {"huge basis", [](gguf_writer& f) { f.set(key("basis_tokens"), std::uint64_t{1} << 40); },
       "basis_tokens is 1,099"},
      {"shares",
       [](gguf_writer& f) {
         f.set_array<float>(key("shares"), {0.5f, 0.5f});
       },
       "is not an array of 3 f32"},
      {"shares of doubles",
       [](gguf_writer& f) {
         f.set_array<double>(key("shares"), {0.5, 0.2, 0.2});
       },
       "is not an array of 3 f32"},
      {"shares above 1",
       [](gguf_writer& f) {
         f.set_array<float>(key("shares"), {0.5f, 0.5f, 0.1f});
       },
       "has shares that add up to 1.1, more than 1"},
      {"share below 0",
       [](gguf_writer& f) {
         f.set_array<float>(key("shares"), {0.5f, -0.5f, 0.1f});
       },
       "has element 1 of -0.5, a finite number of 0 or more"},
      {"share of nothing",
       [](gguf_writer& f) {
         f.set_array<float>(key("shares"), {0.5f, 0.1f, infinity - infinity});
       },
       "has element 2 of"},
      {"settings", [](gguf_writer& f) { f.set_array<float>(key("settings"), std::vector<float>(20)); },
       "is not an array of 21 f32"},
      {"setting", [](gguf_writer& f) { f.set_array<float>(key("settings"), std::vector<float>(21, 0.75f)); },
       "key dvp.compression.settings has shares that add up to 1.5"},
      {"endless setting", [](gguf_writer& f) { f.set_array<float>(key("settings"), std::vector<float>(21, infinity)); },
       "has element 0 of inf"},
  });
  for (const char* name : {"version", "model_sha256", "model", "data", "tool", "seed", "group", "correction_rank",
                           "basis_tokens", "shares", "settings"}) {
    const std::string missing = "key dvp.compression." + std::string(name) + " is missing; make it again";
    check({{name, [&](gguf_writer& f) { f.remove(key(name)); }, missing.c_str()},
           {name, [&](gguf_writer& f) { f.set(key(name), true); }, name}});
  }
}

TEST(sidecar, wrong_tensors) {
  check({
      {"no layer", [](gguf_writer& f) { f.tensors.clear(); }, "tensor blk.0.ffn_channels.codes is missing"},
      {"a layer too many",
       [](gguf_writer& f) {
         f.tensors.push_back({"blk.2.ffn_views", {2}, i32, byte_string(8), {}});
       },
       "tensor blk.2.ffn_views is no part of a sidecar of 2 layers and correction rank 2"},
      {"stranger",
       [](gguf_writer& f) {
         f.tensors.push_back({"a\nb", {2}, i32, byte_string(8), {}});
       },
       "a\\x0ab is no part"},
      {"rank 0 and corrections", [](gguf_writer& f) { f.set(key("correction_rank"), std::uint32_t{0}); },
       "correction rank 0"},
      {"another rank", [](gguf_writer& f) { f.set(key("correction_rank"), std::uint32_t{3}); },
       "tensor blk.0.correction_q4.inputs has shape 32 x 4, 32 x 6 is expected"},
      {"width",
       [](gguf_writer& f) {
         f.at("blk.0.ffn_channels.codes").shape = {128, 48};
       },
       "has shape 128 x 48, three times the width, a multiple of 32, x channels is expected"},
      {"dimensions",
       [](gguf_writer& f) {
         f.at("blk.0.ffn_channels.codes").shape = {96, 32, 2};
       },
       "has shape"},
      {"slots",
       [](gguf_writer& f) {
         f.at("blk.0.ffn_channels.scales").shape = {32, 96};
       },
       "tensor blk.0.ffn_channels.scales has shape 32 x 96, a multiple of 48 with room for 3 x 3 scales"},
      {"other layer",
       [](gguf_writer& f) {
         f.at("blk.1.ffn_channels.codes").shape = {192, 32};
       },
       "tensor blk.1.ffn_channels.codes has shape 192 x 32, 96 x 64 is expected"},
      {"finite scales", [](gguf_writer& f) { put<std::uint16_t>(f, "blk.1.ffn_channels.scales", 16, 0x7c00); },
       "tensor blk.1.ffn_channels.scales has element 16 of inf, a finite number is expected"},
      {"empty slots", [](gguf_writer& f) { put<std::uint16_t>(f, "blk.1.ffn_channels.scales", 3 * 16 - 1, 1); },
       "has element 47, which no scale uses, not 0"},
      {"importance", [](gguf_writer& f) { put(f, "blk.0.ffn_importance", 3, -1.0f); },
       "has element 3 of -1, a finite number of 0 or more is expected"},
      {"correction", [](gguf_writer& f) { put<std::uint16_t>(f, "blk.1.correction_q2.outputs", 63, 0x7fc0); },
       "tensor blk.1.correction_q2.outputs has element 63 of"},
      {"view of the other precision", [](gguf_writer& f) { put(f, "blk.0.ffn_views", 0, 2u); },
       "tensor blk.0.ffn_views has element 0 of 0x00000002, no view of q4"},
      {"view not set", [](gguf_writer& f) { put(f, "blk.1.ffn_views", 1, 0u); },
       "element 1 of 0x00000000, no view of q2"},
      {"unused bits of a view", [](gguf_writer& f) { put(f, "blk.1.ffn_views", 1, 0x80000002u); }, "0x80000002"},
  });
  const gguf_writer good = tiny_sidecar();
  for (const auto& tensor : good.tensors) {
    const std::string missing = tensor.name == "blk.1.ffn_channels.codes" ? "blk.1." : tensor.name + " is missing";
    check({{tensor.name.c_str(), [&](gguf_writer& f) { f.remove_tensor(tensor.name); }, missing.c_str()},
           {tensor.name.c_str(),
            [&](gguf_writer& f) {
              f.at(tensor.name).type = q8_0;
              f.at(tensor.name).shape = {32, 64};
              f.at(tensor.name).data.resize(64 * 34);
            },
            "is Q8_0, "},
           {tensor.name.c_str(), [&](gguf_writer& f) { f.at(tensor.name).shape.back() *= 2; }, tensor.name.c_str()}});
  }
}

// Cut anywhere it is refused; spoiled anywhere it is refused or read.
TEST(sidecar, cut_and_spoiled_files) {
  const byte_string whole = tiny_sidecar().build();
  const std::size_t table = whole.size() - 2 * 12000;
  for (std::size_t length = 0; length < whole.size(); length += length < table ? 1 : 97) {
    EXPECT_NE(outcome(byte_string(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length))), "accepted")
        << length;
  }
  constexpr std::uint64_t seed = 20261130;
  std::mt19937_64 random(seed);
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    byte_string bytes = whole;
    for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
      const std::size_t at = random() % (random() % 4 == 0 ? bytes.size() : std::size_t{4000});
      bytes[at] = random() % 2 == 0 ? static_cast<std::byte>(random()) : bytes[at] ^ std::byte{0x80};
    }
    try {
      accepted += outcome(bytes) == "accepted" ? 1 : 0;
    } catch (const std::exception& error) {
      FAIL() << "seed " << seed << ", iteration " << i << ": " << error.what();
    }
  }
  std::printf("seed %llu: %d of 5000 accepted\n", static_cast<unsigned long long>(seed), accepted);
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 4000);
}

}  // namespace
}  // namespace dvp::loader
