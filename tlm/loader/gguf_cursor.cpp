#include "tlm/loader/gguf_cursor.h"

#include <limits>

namespace dvp::loader {
namespace {

constexpr std::uint32_t deepest_array = 4;
constexpr std::uint32_t array_head_bytes = 4 + 8;

// Bytes of a number; 0 for strings and arrays.
std::uint32_t scalar_bytes(value_type type) {
  switch (type) {
    case value_type::u8:
    case value_type::i8:
    case value_type::boolean:
      return 1;
    case value_type::u16:
    case value_type::i16:
      return 2;
    case value_type::u32:
    case value_type::i32:
    case value_type::f32:
      return 4;
    case value_type::u64:
    case value_type::i64:
    case value_type::f64:
      return 8;
    case value_type::string:
    case value_type::array:
      break;
  }
  return 0;
}

// Least bytes an element of this type takes in a file.
std::uint32_t least_bytes(value_type type) {
  return type == value_type::string ? 8 : type == value_type::array ? array_head_bytes : scalar_bytes(type);
}

}  // namespace

void gguf_cursor::fail(std::string_view problem, std::string_view remedy) const {
  throw load_error(file_, subject_, problem, remedy);
}

std::span<const std::byte> gguf_cursor::take(std::uint64_t count) {
  if (count > remaining()) {
    const bool huge = count > std::numeric_limits<std::uint64_t>::max() - position_;
    fail((huge ? "is " + grouped(count) + " bytes long" : "ends at byte " + grouped(position_ + count)) +
             " but the file has " + grouped(bytes_.size()),
         "the download may be incomplete");
  }
  const auto taken = bytes_.subspan(position_, count);
  position_ += count;
  return taken;
}

std::uint64_t gguf_cursor::count(std::string_view things, std::uint64_t least_each) {
  const auto wanted = number<std::uint64_t>();
  if (wanted > remaining() / least_each) {
    fail("announces " + grouped(wanted) + " " + std::string(things) + " at byte " + grouped(position_ - 8) +
             " but the " + grouped(remaining()) + " bytes that follow hold at most " +
             grouped(remaining() / least_each),
         "the file is damaged or the download incomplete");
  }
  return wanted;
}

std::string_view gguf_cursor::string() {
  const auto length = number<std::uint64_t>();
  if (length > remaining()) {
    fail("has a string of " + grouped(length) + " bytes at byte " + grouped(position_) + " but the file has only " +
             grouped(remaining()) + " more",
         "the file is damaged or the download incomplete");
  }
  const auto bytes = take(length);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

value_type gguf_cursor::type() {
  const auto wanted = number<std::uint32_t>();
  if (wanted > static_cast<std::uint32_t>(value_type::f64)) {
    fail("has value type " + grouped(wanted) + ", which GGUF does not define", "the file is damaged");
  }
  return static_cast<value_type>(wanted);
}

gguf_value gguf_cursor::value(value_type type_of_value, std::uint32_t depth) {
  gguf_value value;
  value.type = type_of_value;
  if (type_of_value == value_type::string) {
    const std::string_view text = string();
    value.bytes = std::as_bytes(std::span(text));
    return value;
  }
  if (type_of_value == value_type::array) {
    if (depth == deepest_array) {
      fail("nests arrays deeper than " + grouped(deepest_array), "the file is damaged");
    }
    value.element = type();
    value.count = count("elements", least_bytes(value.element));
    const std::uint64_t start = position_;
    const std::uint64_t length = take_array(value.element, value.count, depth);
    value.bytes = bytes_.subspan(start, length);
    return value;
  }
  value.bytes = take(scalar_bytes(type_of_value));
  if (type_of_value == value_type::boolean && std::to_integer<unsigned>(value.bytes[0]) > 1) {
    fail("is a boolean of value " + grouped(std::to_integer<unsigned>(value.bytes[0])) + ", not 0 or 1",
         "the file is damaged");
  }
  return value;
}

// Passes over the elements and returns how many bytes they take.
std::uint64_t gguf_cursor::take_array(value_type element, std::uint64_t count, std::uint32_t depth) {
  const std::uint64_t start = position_;
  const std::uint32_t fixed = element == value_type::boolean ? 0 : scalar_bytes(element);
  if (fixed != 0) {
    take(count * fixed);  // cannot overflow: count() bounded it
  } else {
    for (std::uint64_t i = 0; i < count; ++i) {
      value(element, depth + 1);
    }
  }
  return position_ - start;
}

}  // namespace dvp::loader
