// The GGUF reader on files that are right: every value type, both versions, tensor spans, files on disk.
#include "tlm/loader/gguf.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "testbenches/unit/loader/tiny_model.h"

namespace dvp::loader {
namespace {

using namespace dvp::testbenches;

TEST(gguf, reads_every_value_type_of_both_versions) {
  for (const std::uint32_t version : {2u, 3u}) {
    gguf_writer file;
    file.version = version;
    file.set("u8", std::uint8_t{255});
    file.set("i8", std::int8_t{-128});
    file.set("u16", std::uint16_t{65535});
    file.set("i16", std::int16_t{-32768});
    file.set("u32", std::uint32_t{4294967295u});
    file.set("i32", std::int32_t{7});
    file.set("f32", 0.1f);
    file.set("f64", 0.1);
    file.set("yes", true);
    file.set("no", false);
    file.set("text", "caf\u00e9");
    file.set("none", "");
    file.set("u64", std::uint64_t{18446744073709551615u});
    file.set("i64", std::int64_t{-1});
    file.set_array<std::string>("texts", {"", "one", "two words"});
    file.set_array<std::int16_t>("numbers", {-3, 0, 3});
    file.set_array<bool>("flags", {true, false});
    file.set_array<double>("empty", {});
    const byte_string bytes = file.build();
    const gguf_file read("x.gguf", bytes);

    EXPECT_EQ(read.version(), version);
    EXPECT_EQ(read.metadata().size(), 18u);
    EXPECT_EQ(read.metadata()[3].key, "i16");
    EXPECT_EQ(read.unsigned_of("u8"), 255u);
    EXPECT_EQ(read.unsigned_of("u16"), 65535u);
    EXPECT_EQ(read.unsigned_of("u32"), 4294967295u);
    EXPECT_EQ(read.unsigned_of("i32"), 7u);
    EXPECT_EQ(read.unsigned_of("u64"), 18446744073709551615u);
    EXPECT_EQ(read.find("i8")->integer(), -128);
    EXPECT_EQ(read.find("i16")->integer(), -32768);
    EXPECT_EQ(read.find("i64")->integer(), -1);
    EXPECT_EQ(read.find("u64")->integer(), 9223372036854775807);
    EXPECT_EQ(read.float_of("f32"), static_cast<double>(0.1f));
    EXPECT_EQ(read.float_of("f64"), 0.1);
    EXPECT_EQ(read.bool_of("yes"), true);
    EXPECT_EQ(read.bool_of("no"), false);
    EXPECT_EQ(read.string_of("text"), "caf\u00e9");
    EXPECT_EQ(read.string_of("none"), "");
    EXPECT_EQ(read.strings_of("texts"), (std::vector<std::string_view>{"", "one", "two words"}));
    EXPECT_EQ(read.integers_of("numbers"), (std::vector<std::int64_t>{-3, 0, 3}));
    EXPECT_EQ(read.find("flags")->elements()[0].integer(), 1);
    EXPECT_EQ(read.find("empty")->count, 0u);
    EXPECT_TRUE(read.strings_of("empty")->empty());
    EXPECT_EQ(read.find("absent"), nullptr);
    EXPECT_EQ(read.unsigned_of("absent"), std::nullopt);
    EXPECT_EQ(read.strings_of("absent"), std::nullopt);
  }
}

TEST(gguf, reads_nested_arrays) {
  // {{1, 2}, {}, {3}} of u16.
  byte_string value;
  append(value, gguf_writer::array_type);
  append(value, std::uint64_t{3});
  for (const std::vector<std::uint16_t>& inner : {std::vector<std::uint16_t>{1, 2}, {}, {3}}) {
    append(value, gguf_type_number<std::uint16_t>());
    append(value, static_cast<std::uint64_t>(inner.size()));
    for (const std::uint16_t number : inner) {
      append(value, number);
    }
  }
  gguf_writer file;
  file.set_raw("nested", gguf_writer::array_type, value);
  file.set("after", std::uint32_t{5});
  const byte_string bytes = file.build();
  const gguf_file read("x.gguf", bytes);
  const auto inner = read.find("nested")->elements();
  ASSERT_EQ(inner.size(), 3u);
  EXPECT_EQ(inner[0].elements()[1].integer(), 2);
  EXPECT_EQ(inner[1].count, 0u);
  EXPECT_EQ(inner[2].elements()[0].integer(), 3);
  EXPECT_EQ(read.unsigned_of("after"), 5u);
}

TEST(gguf, typed_look_ups_refuse_other_types) {
  gguf_writer file;
  file.set("text", "x");
  file.set("minus", std::int32_t{-1});
  file.set_array<std::uint32_t>("numbers", {1});
  const byte_string bytes = file.build();
  const gguf_file read("x.gguf", bytes);
  EXPECT_THROW(read.unsigned_of("text"), load_error);
  EXPECT_THROW(read.unsigned_of("minus"), load_error);
  EXPECT_THROW(read.float_of("minus"), load_error);
  EXPECT_THROW(read.bool_of("minus"), load_error);
  EXPECT_THROW(read.string_of("numbers"), load_error);
  EXPECT_THROW(read.strings_of("numbers"), load_error);
  EXPECT_THROW(read.integers_of("text"), load_error);
  try {
    read.unsigned_of("numbers");
    FAIL();
  } catch (const load_error& error) {
    EXPECT_STREQ(error.what(), "x.gguf: key numbers is an array of u32, an integer is expected");
  }
}

TEST(gguf, places_tensors_by_shape_type_and_alignment) {
  for (const std::uint32_t alignment : {1u, 8u, 32u, 4096u}) {
    gguf_writer file;
    file.alignment = alignment;
    file.set("general.alignment", alignment);
    const struct {
      const char* name;
      std::vector<std::uint64_t> shape;
      std::uint32_t type;
      std::uint64_t bytes;  // from ggml's block sizes, worked out by hand
    } tensors[] = {
        {"a", {3}, f32, 12},         {"b", {5, 2}, f16, 20},   {"c", {64, 3}, q8_0, 2 * 34 * 3},
        {"d", {32, 2, 2}, q4_0, 72}, {"e", {32, 1}, q4_1, 20}, {"f", {1, 1, 1, 7}, bf16, 14},
        {"g", {256, 2}, q4_k, 288},
    };
    for (const auto& t : tensors) {
      byte_string data(t.bytes, static_cast<std::byte>(t.name[0]));
      file.tensors.push_back({t.name, t.shape, t.type, data, {}});
    }
    const byte_string bytes = file.build();
    const gguf_file read("x.gguf", bytes);
    for (const auto& t : tensors) {
      const gguf_tensor* found = read.find_tensor(t.name);
      ASSERT_NE(found, nullptr) << t.name;
      EXPECT_EQ(found->data.size(), t.bytes) << t.name;
      EXPECT_EQ(found->offset % alignment, 0u);
      for (const std::byte b : found->data) {
        ASSERT_EQ(b, static_cast<std::byte>(t.name[0])) << t.name;
      }
    }
    EXPECT_EQ(read.find_tensor("d")->rows(), 4u);
    EXPECT_EQ(read.find_tensor("d")->shape_text(), "32 x 2 x 2");
    EXPECT_EQ(read.find_tensor("h"), nullptr);
  }
}

class files_on_disk : public testing::Test {
 protected:
  files_on_disk() : folder_(std::filesystem::temp_directory_path() / ("dvp_gguf_test_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~files_on_disk() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const byte_string& bytes) const {
    std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
  static std::string message_of(const std::string& path) {
    try {
      gguf_file::open(path);
      return "accepted";
    } catch (const load_error& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(files_on_disk, are_mapped_and_outlive_moves) {
  const std::string path = write("m.gguf", tiny_model().build());
  gguf_file first = gguf_file::open(path);
  const gguf_file second = std::move(first);
  EXPECT_EQ(second.string_of("general.architecture"), "llada");
  EXPECT_EQ(second.find_tensor("output_norm.weight")->data.size(), 32u * 4);
  EXPECT_EQ(second.name(), path);
}

TEST_F(files_on_disk, say_what_is_wrong_with_the_path) {
  const std::string missing = folder_ / "no.gguf", pipe = folder_ / "pipe.gguf";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(message_of(missing), missing + ": no such file; check the path");
  EXPECT_EQ(message_of(folder_), folder_.string() + ": is a directory; name a file in it");
  EXPECT_EQ(message_of(pipe), pipe + ": is not a regular file; copy it to a file first");
  EXPECT_EQ(message_of(write("empty.gguf", {})),
            (folder_ / "empty.gguf").string() + ": is empty; build, copy or download it again");
  EXPECT_EQ(load_error::exit_code, 3);
}

}  // namespace
}  // namespace dvp::loader
