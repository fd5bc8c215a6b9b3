// Pre-tokenizers of byte-level BPE: they cut a text into the pieces inside which merges may happen.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace dvp::loader {

// The published regular expressions, alternatives tried in this order at every position:
//   gpt2   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//   qwen2  (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|
//   ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
enum class pre_tokenizer { gpt2, qwen2 };

// From tokenizer.ggml.pre: "default", "gpt-2" and "qwen2"; nothing for others.
std::optional<pre_tokenizer> find_pre_tokenizer(std::string_view name);

// The pieces in order; together they are the text. A byte that is not UTF-8 counts as a character of no class.
std::vector<std::string_view> split(pre_tokenizer kind, std::string_view text);

}  // namespace dvp::loader
