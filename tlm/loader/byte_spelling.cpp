#include "tlm/loader/byte_spelling.h"

#include <array>

#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

constexpr bool spells_itself(std::uint32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr std::uint32_t others = 256 - (94 + 12 + 82);  // bytes that do not spell themselves

struct alphabet {
  std::array<std::uint32_t, 256> by_byte{};
  std::array<std::uint8_t, 256 + others> by_code_point{};
};

constexpr alphabet make_alphabet() {
  alphabet made;
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const std::uint32_t code_point = spells_itself(byte) ? byte : next++;
    made.by_byte[byte] = code_point;
    made.by_code_point[code_point] = static_cast<std::uint8_t>(byte);
  }
  return made;
}

constexpr alphabet gpt2 = make_alphabet();

}  // namespace

std::uint32_t spelling_of(std::uint8_t byte) {
  return gpt2.by_byte[byte];
}

std::optional<std::string> bytes_spelled(std::string_view spelling) {
  std::string bytes;
  while (!spelling.empty()) {
    const utf8_character c = first_character(spelling);
    const bool known =
        c.valid && c.code_point < gpt2.by_code_point.size() && (c.code_point >= 256 || spells_itself(c.code_point));
    if (!known) {
      return std::nullopt;
    }
    bytes += static_cast<char>(gpt2.by_code_point[c.code_point]);
    spelling.remove_prefix(c.bytes);
  }
  return bytes;
}

}  // namespace dvp::loader
