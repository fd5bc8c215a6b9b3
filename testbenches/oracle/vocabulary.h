// Text to tokens and back for vocabularies without merges: every byte is a token in GPT-2's printable spelling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "testbenches/oracle/gguf_file.h"
#include "testbenches/oracle/network.h"

namespace dvp::oracle {

class vocabulary {
 public:
  // Throws std::runtime_error when the file's tokenizer merges bytes.
  explicit vocabulary(const gguf_file& file);

  // Throws std::runtime_error when a byte has no token.
  std::vector<token> encode(std::string_view text) const;
  // Tokens that are not one byte are shown as they are spelled in the file.
  std::string decode(const std::vector<token>& tokens) const;

 private:
  std::vector<int> token_of_byte_;  // [256]; -1: none
  std::vector<std::string> text_of_token_;
};

}  // namespace dvp::oracle
