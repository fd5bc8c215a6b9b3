#include "tlm/loader/load_error.h"

#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

std::string sentence(std::string_view file, std::string_view subject, std::string_view problem,
                     std::string_view remedy) {
  std::string text(file);
  text += ": ";
  if (!subject.empty()) {
    text.append(subject).append(" ");
  }
  text += problem;
  if (!remedy.empty()) {
    text.append("; ").append(remedy);
  }
  return text;
}

}  // namespace

load_error::load_error(std::string_view file, std::string_view subject, std::string_view problem,
                       std::string_view remedy)
    : std::runtime_error(sentence(file, subject, problem, remedy)) {}

std::string printable(std::string_view text) {
  constexpr std::size_t most_bytes = 80;
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  while (!text.empty() && shown.size() < most_bytes) {
    const utf8_character c = first_character(text);
    const bool control = c.code_point < 0x20 || (c.code_point >= 0x7f && c.code_point < 0xa0);
    if (c.valid && !control) {
      shown += text.substr(0, c.bytes);
    } else {
      for (const char byte : text.substr(0, c.bytes)) {
        const auto value = static_cast<unsigned char>(byte);
        shown.append("\\x").append(1, digits[value >> 4]).append(1, digits[value & 15]);
      }
    }
    text.remove_prefix(c.bytes);
  }
  return text.empty() ? shown : shown + "...";
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) {
      text += ',';
    }
    text += digits[i];
  }
  return text;
}

}  // namespace dvp::loader
