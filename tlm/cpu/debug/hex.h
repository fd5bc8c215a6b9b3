// Numbers and bytes as the remote protocol writes them, in hexadecimal, and a reader for packets made of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dvp::cpu::debug {

// 0 to 15, -1 for another character.
int digit(char c);

void append_byte(std::string& out, std::uint8_t byte);
std::string hex(std::span<const std::uint8_t> bytes);
std::string hex_text(std::string_view text);
// Without leading zeros.
std::string hex_number(std::uint64_t value);
// The 16 digits of a 64-bit register, lowest byte first.
std::string hex_register(std::uint64_t value);

// Takes a packet apart from the left. A take that fails leaves the rest as it was.
class field_reader {
 public:
  explicit field_reader(std::string_view text) : rest_(text) {}

  bool done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  bool take(char expected);
  bool take(std::string_view expected);
  // All up to the mark, which is taken too; all there is when there is no mark.
  std::string_view until(char mark);
  // Of 1 to 16 digits, as many as there are.
  std::optional<std::uint64_t> number();
  // Pairs of digits to the end; nothing unless all of the rest is that.
  std::optional<std::vector<std::uint8_t>> bytes() const;

 private:
  std::string_view rest_;
};

// The opposite of hex_register.
std::optional<std::uint64_t> register_value(std::string_view digits);

}  // namespace dvp::cpu::debug
