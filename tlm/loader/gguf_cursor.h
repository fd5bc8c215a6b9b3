// Checked reading of a GGUF file from front to back. Used by gguf.cpp only.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "tlm/loader/gguf.h"
#include "tlm/loader/load_error.h"

namespace dvp::loader {

class gguf_cursor {
 public:
  gguf_cursor(const std::string& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  // What the messages of the following reads are about, e.g. "key general.name".
  void set_subject(std::string subject) { subject_ = std::move(subject); }
  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return bytes_.size() - position_; }

  std::span<const std::byte> take(std::uint64_t count);

  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  // A 64-bit count of things that take at least `least_bytes` each; refuses more than the rest of the file can hold.
  std::uint64_t count(std::string_view things, std::uint64_t least_bytes);
  std::string_view string();
  value_type type();
  // A value of this type at the cursor, all of it checked. depth: arrays around it.
  gguf_value value(value_type type, std::uint32_t depth = 0);

  [[noreturn]] void fail(std::string_view problem, std::string_view remedy = {}) const;

 private:
  std::uint64_t take_array(value_type element, std::uint64_t count, std::uint32_t depth);

  const std::string& file_;
  std::span<const std::byte> bytes_;
  std::uint64_t position_ = 0;
  std::string subject_;
};

}  // namespace dvp::loader
