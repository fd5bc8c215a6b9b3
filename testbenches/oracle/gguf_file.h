// A small GGUF version 3 reader: metadata by key, tensors widened to double. Independent of the platform's loader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace dvp::oracle {

struct matrix {
  std::size_t rows = 0;     // output channels; 1 for a vector
  std::size_t columns = 0;  // input channels, contiguous
  std::vector<double> values;
};

// Every member throws std::runtime_error with one sentence: a file that is cut short, a missing key, another type.
class gguf_file {
 public:
  explicit gguf_file(std::vector<char> bytes);
  static gguf_file read(const std::filesystem::path& path);

  bool has(const std::string& key) const { return metadata_.contains(key); }
  std::uint64_t integer(const std::string& key) const;
  double real(const std::string& key) const;
  bool flag(const std::string& key) const;
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;

  bool has_tensor(const std::string& name) const { return tensors_.contains(name); }
  // F32, F16, BF16 or Q8_0.
  matrix tensor(const std::string& name) const;

 private:
  struct other_array {};
  using value =
      std::variant<std::uint64_t, std::int64_t, double, bool, std::string, std::vector<std::string>, other_array>;
  struct tensor_place {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::uint32_t type = 0;
    std::size_t offset = 0;  // from the start of the file
  };
  class cursor;

  const value& find(const std::string& key) const;
  static value read_value(cursor& at, std::uint32_t type);

  std::vector<char> bytes_;
  std::map<std::string, value> metadata_;
  std::map<std::string, tensor_place> tensors_;
};

}  // namespace dvp::oracle
