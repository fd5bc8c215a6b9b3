#include "tlm/loader/tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>

#include "tlm/loader/byte_spelling.h"
#include "tlm/loader/key_reader.h"
#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

constexpr std::string_view tokens_key = "tokenizer.ggml.tokens", types_key = "tokenizer.ggml.token_type",
                           merges_key = "tokenizer.ggml.merges", pre_key = "tokenizer.ggml.pre",
                           bos_key = "tokenizer.ggml.bos_token_id";

std::optional<std::uint32_t> token_id(const gguf_file& file, std::string_view key, std::size_t tokens) {
  const auto id = file.unsigned_of(key);
  if (id && *id >= tokens) {
    throw file.key_error(key, "is " + grouped(*id) + " but the model has " + grouped(tokens) + " tokens");
  }
  return id ? std::optional(static_cast<std::uint32_t>(*id)) : std::nullopt;
}

// The character that the byte at `position` belongs to has no token.
[[noreturn]] void refuse_character(std::string_view text, std::size_t position) {
  std::size_t at = 0;
  utf8_character c = first_character(text);
  while (at + c.bytes <= position) {
    at += c.bytes;
    c = first_character(text.substr(at));
  }
  char code[16];
  std::snprintf(code, sizeof code, c.valid ? "U+%04X" : "0x%02x", c.code_point);
  const std::string name = c.valid ? "character \"" + printable(text.substr(at, c.bytes)) + "\" (" + code + ")"
                                   : std::string("byte ") + code + ", which is not UTF-8,";
  throw encode_error(name + " at byte " + grouped(at) + " of the text has no token in this model", at);
}

}  // namespace

tokenizer::tokenizer(const gguf_file& file) {
  const auto kind = file.string_of("tokenizer.ggml.model");
  if (!kind) {
    throw missing_key(file, "tokenizer.ggml.model");
  }
  if (*kind != "gpt2") {
    throw file.key_error("tokenizer.ggml.model",
                         "is " + printable(*kind) + ", only gpt2 (byte-level BPE) is supported");
  }
  const auto spellings = file.strings_of(tokens_key);
  if (!spellings) {
    throw missing_key(file, tokens_key);
  }
  tokens_.resize(spellings->size());
  read_kinds(file);
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const std::string_view spelling = (*spellings)[i];
    // A normal token with a character outside the alphabet can only be shown, as it is.
    const bool spelled = tokens_[i].kind == token_kind::normal;
    tokens_[i].bytes = (spelled ? bytes_spelled(spelling) : std::nullopt).value_or(std::string(spelling));
  }
  read_merges(file, *spellings);
  index_tokens();
  if (file.bool_of("tokenizer.ggml.add_bos_token").value_or(false)) {
    start_token_ = token_id(file, bos_key, tokens_.size());
    if (!start_token_) {
      throw missing_key(file, bos_key);
    }
  }
}

void tokenizer::read_kinds(const gguf_file& file) {
  const auto types = file.integers_of(types_key);
  if (!types) {
    for (const std::string_view key : {"tokenizer.ggml.mask_token_id", "tokenizer.ggml.eos_token_id",
                                       "tokenizer.ggml.padding_token_id", "tokenizer.ggml.bos_token_id"}) {
      if (const auto id = token_id(file, key, tokens_.size())) {
        tokens_[*id].kind = token_kind::control;
      }
    }
    return;
  }
  if (types->size() != tokens_.size()) {
    throw file.key_error(types_key,
                         "has " + grouped(types->size()) + " entries for " + grouped(tokens_.size()) + " tokens");
  }
  constexpr token_kind kinds[] = {token_kind::normal,       token_kind::control, token_kind::control,
                                  token_kind::user_defined, token_kind::unused,  token_kind::unused};
  for (std::size_t i = 0; i < types->size(); ++i) {
    const std::int64_t type = (*types)[i];
    if (type < 1 || type > static_cast<std::int64_t>(std::size(kinds))) {
      throw file.key_error(types_key,
                           "gives token " + grouped(i) + " the type " + std::to_string(type) + ", 1 to 6 are known");
    }
    tokens_[i].kind = kinds[type - 1];
  }
}

void tokenizer::read_merges(const gguf_file& file, const std::vector<std::string_view>& spellings) {
  const auto merges = file.strings_of(merges_key);
  if (!merges || merges->empty()) {
    return;
  }
  const std::string_view pre = file.string_of(pre_key).value_or("default");
  const auto known = find_pre_tokenizer(pre);
  if (!known) {
    throw file.key_error(pre_key, "is " + printable(pre) + ", only default, gpt-2 and qwen2 are supported");
  }
  pre_tokenizer_ = *known;

  std::unordered_map<std::string_view, std::uint32_t> by_spelling;
  for (std::uint32_t i = 0; i < size(); ++i) {
    if (tokens_[i].kind == token_kind::normal) {
      by_spelling.try_emplace(spellings[i], i);
    }
  }
  for (std::size_t i = 0; i < merges->size(); ++i) {
    const std::string_view merge = (*merges)[i];
    const std::string what = "entry " + grouped(i) + " (" + printable(merge) + ") ";
    const std::size_t space = merge.find(' ', 1);
    if (merge.empty() || space == std::string_view::npos || space + 1 == merge.size()) {
      throw file.key_error(merges_key, what + "is not two spellings with a space between");
    }
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    std::string joined(left);
    joined += right;
    std::uint32_t ids[3] = {};
    const std::string_view parts[] = {left, right, joined};
    for (std::size_t k = 0; k < 3; ++k) {
      const auto found = by_spelling.find(parts[k]);
      if (found == by_spelling.end()) {
        throw file.key_error(merges_key, what + "needs " + printable(parts[k]) + ", which is not a token");
      }
      ids[k] = found->second;
    }
    merges_.add(ids[0], ids[1], ids[2]);
  }
}

void tokenizer::index_tokens() {
  for (std::uint32_t i = 0; i < size(); ++i) {
    const token_entry& token = tokens_[i];
    if (token.bytes.empty()) {
      continue;
    }
    const auto first = static_cast<unsigned char>(token.bytes[0]);
    if (token.kind == token_kind::normal && token.bytes.size() == 1 && !byte_tokens_[first]) {
      byte_tokens_[first] = i;
    }
    if (token.kind == token_kind::control || token.kind == token_kind::user_defined) {
      special_by_first_byte_[first].push_back(i);
    }
  }
  for (auto& list : special_by_first_byte_) {
    std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
      return tokens_[a].bytes.size() > tokens_[b].bytes.size();
    });
  }
}

// The special token whose text the rest starts with, or null.
const std::uint32_t* tokenizer::special_at(std::string_view rest, control handling) const {
  for (const std::uint32_t& token : special_by_first_byte_[static_cast<unsigned char>(rest[0])]) {
    const bool meant = tokens_[token].kind == token_kind::user_defined || handling == control::as_tokens;
    if (meant && rest.starts_with(tokens_[token].bytes)) {
      return &token;
    }
  }
  return nullptr;
}

std::vector<std::uint32_t> tokenizer::encode(std::string_view text, control handling) const {
  std::vector<std::uint32_t> tokens;
  std::size_t plain = 0;  // start of the text not yet encoded
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t* special = special_at(text.substr(at), handling);
    if (special == nullptr) {
      ++at;
      continue;
    }
    encode_plain(text, plain, at, tokens);
    tokens.push_back(*special);
    at += tokens_[*special].bytes.size();
    plain = at;
  }
  encode_plain(text, plain, text.size(), tokens);
  return tokens;
}

// Appends the tokens of text[first, end), which holds no special token.
void tokenizer::encode_plain(std::string_view text, std::size_t first, std::size_t end,
                             std::vector<std::uint32_t>& tokens) const {
  std::vector<std::string_view> pieces{text.substr(first, end - first)};
  if (!merges_.empty()) {
    pieces = split(pre_tokenizer_, pieces[0]);
  }
  for (const std::string_view piece : pieces) {
    std::vector<std::uint32_t> symbols;
    for (std::size_t i = 0; i < piece.size(); ++i) {
      const auto& token = byte_tokens_[static_cast<unsigned char>(piece[i])];
      if (!token) {
        refuse_character(text, first + i);
      }
      symbols.push_back(*token);
    }
    merges_.apply(symbols);
    tokens.insert(tokens.end(), symbols.begin(), symbols.end());
    first += piece.size();
  }
}

std::string tokenizer::decode(std::span<const std::uint32_t> tokens, show what) const {
  std::string bytes;
  for (const std::uint32_t token : tokens) {
    if (what == show::text_and_control || !is_control(token)) {
      bytes += bytes_of(token);
    }
  }
  return repaired_utf8(bytes);
}

}  // namespace dvp::loader
