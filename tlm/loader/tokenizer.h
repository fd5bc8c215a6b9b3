// Text to tokens and back, from the tokenizer a GGUF file carries.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/loader/byte_pairs.h"
#include "tlm/loader/gguf.h"
#include "tlm/loader/pre_tokenizer.h"

namespace dvp::loader {

// A text has a character the model has no token for. what() names the character and its byte position.
class encode_error : public std::runtime_error {
 public:
  encode_error(const std::string& message, std::size_t position) : std::runtime_error(message), position_(position) {}
  std::size_t position() const { return position_; }  // byte in the text, from 0

 private:
  std::size_t position_;
};

// Byte-level BPE (tokenizer.ggml.model "gpt2"). Tokens are spelled in GPT-2's alphabet of 256 printable characters, one
// per byte (space is U+0120, newline U+010A). With an empty merges list every byte is a token of its own: a
// character tokenizer, for ASCII text.
//
// tokenizer.ggml.token_type tells control tokens (3; also 2, unknown), such as <|mask|>, whose text means them only
// when the caller says so, and user-defined tokens (4), whose text always means them. Both are spelled plainly. Without
// the key, the tokens named by the mask, eos, bos and padding ids are the control tokens. Of tokens with equal spelling
// the lowest is used.
class tokenizer {
 public:
  enum class control { as_text, as_tokens };
  enum class show { text, text_and_control };

  // Throws load_error: keys missing or of the wrong type, model other than gpt2, unknown pre-tokenizer with merges,
  // merges that do not lead from tokens to a token. The file may be closed afterwards.
  explicit tokenizer(const gguf_file& file);

  std::uint32_t size() const { return static_cast<std::uint32_t>(tokens_.size()); }

  // Throws encode_error. as_tokens: where the text of a control token stands, that token is meant; longest text first.
  std::vector<std::uint32_t> encode(std::string_view text, control handling = control::as_text) const;

  // Well-formed UTF-8: bytes that make no character, such as the half of one, become U+FFFD. Control tokens are left
  // out unless asked for. Throws std::out_of_range for a token at or above size().
  std::string decode(std::span<const std::uint32_t> tokens, show what = show::text) const;

  // The bytes a token stands for; of a control token its name.
  std::string_view bytes_of(std::uint32_t token) const { return tokens_.at(token).bytes; }
  bool is_control(std::uint32_t token) const { return tokens_.at(token).kind == token_kind::control; }

  // What a prompt starts with: bos_token_id when tokenizer.ggml.add_bos_token is true. encode() does not add it.
  std::optional<std::uint32_t> start_token() const { return start_token_; }

 private:
  enum class token_kind : std::uint8_t { normal, control, user_defined, unused };
  struct token_entry {
    std::string bytes;
    token_kind kind = token_kind::normal;
  };

  void read_kinds(const gguf_file& file);
  void read_merges(const gguf_file& file, const std::vector<std::string_view>& spellings);
  void index_tokens();
  const std::uint32_t* special_at(std::string_view rest, control handling) const;
  void encode_plain(std::string_view text, std::size_t first, std::size_t end,
                    std::vector<std::uint32_t>& tokens) const;

  std::vector<token_entry> tokens_;
  std::array<std::optional<std::uint32_t>, 256> byte_tokens_;          // by byte
  std::array<std::vector<std::uint32_t>, 256> special_by_first_byte_;  // control and user-defined, longest first
  byte_pairs merges_;
  pre_tokenizer pre_tokenizer_ = pre_tokenizer::gpt2;
  std::optional<std::uint32_t> start_token_;
};

}  // namespace dvp::loader
