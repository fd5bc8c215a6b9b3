#include "testbenches/oracle/vocabulary.h"

#include <map>
#include <stdexcept>

namespace dvp::oracle {

namespace {

std::string utf8(unsigned code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xc0 | (code_point >> 6)), static_cast<char>(0x80 | (code_point & 0x3f))};
}

// GPT-2's bytes_to_unicode: printable Latin-1 characters stand for themselves, the rest for U+0100 and up.
std::map<std::string, unsigned char> bytes_by_spelling() {
  std::map<std::string, unsigned char> result;
  unsigned next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    result[utf8(printable ? byte : next++)] = static_cast<unsigned char>(byte);
  }
  return result;
}

}  // namespace

vocabulary::vocabulary(const gguf_file& file)
    : token_of_byte_(256, -1), text_of_token_(file.texts("tokenizer.ggml.tokens")) {
  if (file.has("tokenizer.ggml.merges") && !file.texts("tokenizer.ggml.merges").empty()) {
    throw std::runtime_error("the tokenizer merges bytes; this decoder knows only one token per byte");
  }
  const auto bytes = bytes_by_spelling();
  for (std::size_t t = 0; t < text_of_token_.size(); ++t) {
    const auto found = bytes.find(text_of_token_[t]);
    if (found == bytes.end()) continue;
    token_of_byte_[found->second] = static_cast<int>(t);
    text_of_token_[t] = std::string(1, static_cast<char>(found->second));
  }
}

std::vector<token> vocabulary::encode(std::string_view text) const {
  std::vector<token> tokens;
  for (const char c : text) {
    const int t = token_of_byte_[static_cast<unsigned char>(c)];
    if (t < 0) throw std::runtime_error("byte " + std::to_string(static_cast<unsigned char>(c)) + " has no token");
    tokens.push_back(static_cast<token>(t));
  }
  return tokens;
}

std::string vocabulary::decode(const std::vector<token>& tokens) const {
  std::string text;
  for (const token t : tokens) text += text_of_token_.at(t);
  return text;
}

}  // namespace dvp::oracle
