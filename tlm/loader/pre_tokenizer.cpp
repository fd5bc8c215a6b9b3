#include "tlm/loader/pre_tokenizer.h"

#include <algorithm>
#include <string>

#include "tlm/loader/unicode_class.h"
#include "tlm/loader/utf8.h"

namespace dvp::loader {
namespace {

struct character {
  std::uint32_t code_point;
  std::size_t start;  // byte in the text
  character_class kind;
};

// The text as characters, and the alternatives of the two expressions as lengths in characters (0: no match).
class matcher {
 public:
  explicit matcher(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const utf8_character c = first_character(text.substr(at));
      characters_.push_back({c.code_point, at, c.valid ? class_of(c.code_point) : character_class::other});
      at += c.bytes;
    }
  }

  std::size_t size() const { return characters_.size(); }
  std::size_t start_of(std::size_t i) const { return characters_[i].start; }

  std::size_t next(pre_tokenizer kind, std::size_t at) const {
    return kind == pre_tokenizer::gpt2 ? next_gpt2(at) : next_qwen2(at);
  }

 private:
  bool is(std::size_t i, character_class kind) const { return i < size() && characters_[i].kind == kind; }
  bool is(std::size_t i, char32_t code_point) const { return i < size() && characters_[i].code_point == code_point; }
  bool is_line_end(std::size_t i) const { return is(i, U'\r') || is(i, U'\n'); }

  template <typename Predicate>
  std::size_t run(std::size_t at, Predicate inside) const {
    std::size_t end = at;
    while (end < size() && inside(end)) {
      ++end;
    }
    return end - at;
  }
  std::size_t run_of(std::size_t at, character_class kind) const {
    return run(at, [&](std::size_t i) { return is(i, kind); });
  }

  std::size_t contraction(std::size_t at, bool any_case) const {
    if (!is(at, U'\'')) {
      return 0;
    }
    std::string letters;
    for (std::size_t i = at + 1; i < at + 3 && i < size() && characters_[i].code_point < 0x80; ++i) {
      const auto letter = static_cast<char>(characters_[i].code_point);
      letters += any_case && letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    }
    for (const std::string_view ending : {"s", "t", "re", "ve", "m", "ll", "d"}) {
      if (letters.starts_with(ending)) {
        return 1 + ending.size();
      }
    }
    return 0;
  }

  // " ?" and a run of one class.
  std::size_t spaced_run(std::size_t at, character_class kind) const {
    const std::size_t lead = is(at, U' ') ? 1 : 0;
    const std::size_t length = run_of(at + lead, kind);
    return length == 0 ? 0 : lead + length;
  }

  // \s+(?!\S)|\s+ : the last space of a run is left to the word behind it.
  std::size_t spaces(std::size_t at) const {
    const std::size_t length = run_of(at, character_class::space);
    return length > 1 && at + length < size() ? length - 1 : length;
  }

  std::size_t next_gpt2(std::size_t at) const {
    for (const std::size_t length : {contraction(at, false), spaced_run(at, character_class::letter),
                                     spaced_run(at, character_class::number), spaced_run(at, character_class::other)}) {
      if (length != 0) {
        return length;
      }
    }
    return spaces(at);
  }

  std::size_t next_qwen2(std::size_t at) const {
    if (const std::size_t length = contraction(at, true)) {
      return length;
    }
    const bool lead = !is_line_end(at) && !is(at, character_class::letter) && !is(at, character_class::number);
    if (const std::size_t letters = run_of(at + (lead ? 1 : 0), character_class::letter)) {
      return letters + (lead ? 1 : 0);
    }
    if (is(at, character_class::number)) {
      return 1;
    }
    if (const std::size_t others = spaced_run(at, character_class::other)) {
      return others + run(at + others, [&](std::size_t i) { return is_line_end(i); });
    }
    // \s*[\r\n]+ : greedy, so it ends behind the last line end of the run of spaces.
    std::size_t end = at + run_of(at, character_class::space);
    while (end > at && !is_line_end(end - 1)) {
      --end;
    }
    return end > at ? end - at : spaces(at);
  }

  std::vector<character> characters_;
};

}  // namespace

std::optional<pre_tokenizer> find_pre_tokenizer(std::string_view name) {
  if (name == "default" || name == "gpt-2") {
    return pre_tokenizer::gpt2;
  }
  return name == "qwen2" ? std::optional(pre_tokenizer::qwen2) : std::nullopt;
}

std::vector<std::string_view> split(pre_tokenizer kind, std::string_view text) {
  const matcher match(text);
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at < match.size();) {
    const std::size_t end = at + match.next(kind, at);
    const std::size_t first = match.start_of(at);
    pieces.push_back(text.substr(first, (end < match.size() ? match.start_of(end) : text.size()) - first));
    at = end;
  }
  return pieces;
}

}  // namespace dvp::loader
