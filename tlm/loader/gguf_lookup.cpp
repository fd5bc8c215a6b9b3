// Typed look-ups of gguf_file.
#include <limits>

#include "tlm/loader/gguf.h"

namespace dvp::loader {
namespace {

std::string kind_of(const gguf_value& value) {
  std::string kind = name_of(value.type);
  return value.type == value_type::array ? "array of " + std::string(name_of(value.element)) : kind;
}

// "is an array of u32, a string is expected"
std::string mismatch(const gguf_value& value, std::string_view expected) {
  const std::string kind = kind_of(value);
  const bool vowel = kind[0] == 'a' || kind[0] == 'i' || kind[0] == 'u';
  return (vowel ? "is an " : "is a ") + kind + ", " + std::string(expected) + " is expected";
}

// All integer types but the widest reach u64 through i64.
std::uint64_t full_unsigned(const gguf_value& value) {
  std::uint64_t number = 0;
  if (value.type == value_type::u64) {
    for (std::size_t i = 0; i < 8; ++i) {
      number |= std::to_integer<std::uint64_t>(value.bytes[i]) << (8 * i);
    }
    return number;
  }
  return static_cast<std::uint64_t>(value.integer());
}

}  // namespace

std::optional<std::uint64_t> gguf_file::unsigned_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (!is_integer(value->type)) {
    throw key_error(key, mismatch(*value, "an integer"));
  }
  if (value->type != value_type::u64 && value->integer() < 0) {
    throw key_error(key, "is negative");
  }
  return full_unsigned(*value);
}

std::optional<double> gguf_file::float_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->type != value_type::f32 && value->type != value_type::f64) {
    throw key_error(key, mismatch(*value, "a float"));
  }
  return value->number();
}

std::optional<bool> gguf_file::bool_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->type != value_type::boolean) {
    throw key_error(key, mismatch(*value, "a boolean"));
  }
  return value->integer() != 0;
}

std::optional<std::string_view> gguf_file::string_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->type != value_type::string) {
    throw key_error(key, mismatch(*value, "a string"));
  }
  return value->text();
}

std::optional<std::vector<std::string_view>> gguf_file::strings_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  // An empty array may carry any element type: some writers derive it from the first element.
  if (value->type != value_type::array || (value->element != value_type::string && value->count != 0)) {
    throw key_error(key, mismatch(*value, "an array of string"));
  }
  std::vector<std::string_view> texts;
  texts.reserve(value->count);
  for (const gguf_value& element : value->elements()) {
    texts.push_back(element.text());
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> gguf_file::integers_of(std::string_view key) const {
  const gguf_value* value = find(key);
  if (value == nullptr) {
    return std::nullopt;
  }
  if (value->type != value_type::array || (!is_integer(value->element) && value->count != 0)) {
    throw key_error(key, mismatch(*value, "an array of integers"));
  }
  std::vector<std::int64_t> numbers;
  numbers.reserve(value->count);
  for (const gguf_value& element : value->elements()) {
    numbers.push_back(element.integer());
  }
  return numbers;
}

}  // namespace dvp::loader
