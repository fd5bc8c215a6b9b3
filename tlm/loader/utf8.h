// UTF-8, one character at a time, with nothing accepted that is not well formed (Unicode 15, table 3-7).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dvp::loader {

struct utf8_character {
  std::uint32_t code_point = 0;  // of an invalid one: the byte's value
  std::uint32_t bytes = 0;       // length in the text; 1 when invalid
  bool valid = false;
};

// The character at the start of a text that is not empty. A byte that starts no well-formed character (overlong form,
// surrogate, above U+10FFFF, cut off, stray continuation) is one invalid character of one byte.
utf8_character first_character(std::string_view text);

// Appends the UTF-8 form of a code point that is a Unicode scalar value.
void append_utf8(std::string& text, std::uint32_t code_point);

// The text with every invalid byte replaced by U+FFFD.
std::string repaired_utf8(std::string_view text);

}  // namespace dvp::loader
