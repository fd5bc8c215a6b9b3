// GPT-2's printable alphabet: one character per byte.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dvp::loader {

// Bytes 33-126, 161-172 and 174-255 are spelled by the character of their own number, the other 68, in ascending
// order, by U+0100 and up (GPT-2's bytes_to_unicode).
std::uint32_t spelling_of(std::uint8_t byte);

// The bytes a spelling stands for, or nothing when it has a character outside the alphabet.
std::optional<std::string> bytes_spelled(std::string_view spelling);

}  // namespace dvp::loader
