// Writes GGUF files for tests, right ones and wrong ones: every field can be given a value that contradicts the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dvp::testbenches {

using byte_string = std::vector<std::byte>;

template <typename T>
requires std::is_trivially_copyable_v<T>
void append(byte_string& bytes, const T& value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof(T));
}

inline void append_text(byte_string& bytes, std::string_view text) {
  append(bytes, static_cast<std::uint64_t>(text.size()));
  for (const char c : text) {
    bytes.push_back(static_cast<std::byte>(c));
  }
}

// GGUF's number for the metadata type of T; strings are std::string.
template <typename T>
constexpr std::uint32_t gguf_type_number() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return 0;
  if constexpr (std::is_same_v<T, std::int8_t>) return 1;
  if constexpr (std::is_same_v<T, std::uint16_t>) return 2;
  if constexpr (std::is_same_v<T, std::int16_t>) return 3;
  if constexpr (std::is_same_v<T, std::uint32_t>) return 4;
  if constexpr (std::is_same_v<T, std::int32_t>) return 5;
  if constexpr (std::is_same_v<T, float>) return 6;
  if constexpr (std::is_same_v<T, bool>) return 7;
  if constexpr (std::is_same_v<T, std::string>) return 8;
  if constexpr (std::is_same_v<T, std::uint64_t>) return 10;
  if constexpr (std::is_same_v<T, std::int64_t>) return 11;
  if constexpr (std::is_same_v<T, double>) return 12;
}

class gguf_writer {
 public:
  struct entry {
    std::string key;
    std::uint32_t type;
    byte_string value;
  };
  struct tensor {
    std::string name;
    std::vector<std::uint64_t> shape;  // innermost first
    std::uint32_t type;                // ggml's number
    byte_string data;
    std::optional<std::uint64_t> offset;  // into the data section; absent: behind the tensor before
  };

  std::uint32_t magic = 0x46554747;
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;                               // of the data; the key general.alignment is separate
  std::optional<std::uint64_t> tensor_count, metadata_count;  // instead of the true ones
  std::vector<entry> metadata;
  std::vector<tensor> tensors;

  static constexpr std::uint32_t array_type = 9;

  void set_raw(const std::string& key, std::uint32_t type, byte_string value) {
    for (entry& e : metadata) {
      if (e.key == key) {
        e.type = type;
        e.value = std::move(value);
        return;
      }
    }
    metadata.push_back({key, type, std::move(value)});
  }
  template <typename T>
  void set(const std::string& key, const T& value) {
    byte_string bytes;
    append_value(bytes, value);
    set_raw(key, gguf_type_number<T>(), std::move(bytes));
  }
  void set(const std::string& key, const char* text) { set(key, std::string(text)); }
  template <typename T>
  void set_array(const std::string& key, const std::vector<T>& values) {
    byte_string bytes;
    append(bytes, gguf_type_number<T>());
    append(bytes, static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) {
      append_value(bytes, value);
    }
    set_raw(key, array_type, std::move(bytes));
  }
  void remove(std::string_view key) {
    std::erase_if(metadata, [&](const entry& e) { return e.key == key; });
  }
  void remove_tensor(std::string_view name) {
    std::erase_if(tensors, [&](const tensor& t) { return t.name == name; });
  }
  tensor& at(std::string_view name) {
    for (tensor& t : tensors) {
      if (t.name == name) {
        return t;
      }
    }
    throw std::invalid_argument("no tensor " + std::string(name));
  }

  byte_string build() const {
    byte_string file;
    append(file, magic);
    append(file, version);
    append(file, tensor_count.value_or(tensors.size()));
    append(file, metadata_count.value_or(metadata.size()));
    for (const entry& e : metadata) {
      append_text(file, e.key);
      append(file, e.type);
      file.insert(file.end(), e.value.begin(), e.value.end());
    }
    byte_string data;
    for (const tensor& t : tensors) {
      append_text(file, t.name);
      append(file, static_cast<std::uint32_t>(t.shape.size()));
      for (const std::uint64_t extent : t.shape) {
        append(file, extent);
      }
      append(file, t.type);
      append(file, t.offset.value_or(data.size()));
      data.insert(data.end(), t.data.begin(), t.data.end());
      pad(data);
    }
    if (!tensors.empty()) {
      pad(file);
    }
    file.insert(file.end(), data.begin(), data.end());
    return file;
  }

 private:
  template <typename T>
  static void append_value(byte_string& bytes, const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      append_text(bytes, value);
    } else {
      append(bytes, value);
    }
  }
  void pad(byte_string& bytes) const { bytes.resize((bytes.size() + alignment - 1) / alignment * alignment); }
};

}  // namespace dvp::testbenches
