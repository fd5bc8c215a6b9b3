#include "tlm/cpu/debug/hex.h"

#include <charconv>

namespace dvp::cpu::debug {

namespace {

constexpr std::size_t register_bytes = 8;
constexpr std::size_t most_digits = 2 * register_bytes;

}  // namespace

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_byte(std::string& out, std::uint8_t byte) {
  constexpr char digits[] = "0123456789abcdef";
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

std::string hex(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) append_byte(out, byte);
  return out;
}

std::string hex_text(std::string_view text) {
  return hex({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::string hex_number(std::uint64_t value) {
  char digits[most_digits];
  return {digits, std::to_chars(digits, digits + most_digits, value, 16).ptr};
}

std::string hex_register(std::uint64_t value) {
  std::string out;
  for (std::size_t i = 0; i < register_bytes; ++i) append_byte(out, static_cast<std::uint8_t>(value >> (8 * i)));
  return out;
}

bool field_reader::take(char expected) {
  if (rest_.empty() || rest_.front() != expected) return false;
  rest_.remove_prefix(1);
  return true;
}

bool field_reader::take(std::string_view expected) {
  if (!rest_.starts_with(expected)) return false;
  rest_.remove_prefix(expected.size());
  return true;
}

std::string_view field_reader::until(char mark) {
  const std::size_t at = rest_.find(mark);
  const std::string_view before = rest_.substr(0, at);
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + 1);
  return before;
}

std::optional<std::uint64_t> field_reader::number() {
  std::uint64_t value = 0;
  std::size_t digits = 0;
  for (; digits < rest_.size() && digit(rest_[digits]) >= 0; ++digits) {
    value = value << 4 | static_cast<std::uint64_t>(digit(rest_[digits]));
  }
  if (digits == 0 || digits > most_digits) return std::nullopt;
  rest_.remove_prefix(digits);
  return value;
}

std::optional<std::vector<std::uint8_t>> field_reader::bytes() const {
  if (rest_.size() % 2 != 0) return std::nullopt;
  std::vector<std::uint8_t> out;
  out.reserve(rest_.size() / 2);
  for (std::size_t i = 0; i < rest_.size(); i += 2) {
    const int high = digit(rest_[i]);
    const int low = digit(rest_[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    out.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return out;
}

std::optional<std::uint64_t> register_value(std::string_view digits) {
  const auto bytes = field_reader(digits).bytes();
  if (!bytes || bytes->size() != register_bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = register_bytes; i-- > 0;) value = value << 8 | (*bytes)[i];
  return value;
}

}  // namespace dvp::cpu::debug
