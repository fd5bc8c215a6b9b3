#include "tlm/platform/progress_view.h"

#include <algorithm>
#include <iomanip>

namespace dvp::platform {

namespace {
constexpr const char* mask_glyph = "·";
constexpr const char* new_token = "\x1b[1;32m";
constexpr const char* dim = "\x1b[2m";
constexpr const char* plain = "\x1b[0m";
}  // namespace

progress_view::progress_view(std::ostream& out, view_mode mode, bool colour, const loader::tokenizer& tokenizer,
                             std::uint32_t mask_token, std::uint32_t end_token)
    : out_(out), mode_(mode), colour_(colour), tokenizer_(tokenizer), mask_token_(mask_token), end_token_(end_token) {}

void progress_view::begin(const prompt& request, std::uint32_t prompt_tokens) {
  prompt_tokens_ = prompt_tokens;
  shown_ = prompt_tokens;
  ended_ = false;
  if (mode_ == view_mode::quiet) return;
  out_ << "  " << std::left << std::setw(12) << (request.id.empty() ? "prompt" : request.id) << ' ' << request.text
       << '\n';
  if (mode_ == view_mode::blocks) out_ << std::string(15, ' ') << std::flush;
}

void progress_view::forward(const forward_record& record, std::span<const std::uint32_t> tokens) {
  switch (mode_) {
    case view_mode::quiet:
      break;
    case view_mode::blocks:
      if (record.kind == gen::progress_kind::block) stream_text(tokens, record.first + record.length);
      // An answer may end inside a block, which is then never complete.
      if (record.kind == gen::progress_kind::finished) stream_text(tokens, static_cast<std::uint32_t>(tokens.size()));
      break;
    case view_mode::visual:
      if (record.kind == gen::progress_kind::forward) draw(record, tokens);
      break;
  }
}

void progress_view::end() {
  if (mode_ == view_mode::blocks) out_ << '\n' << std::flush;
}

std::string progress_view::visible(std::uint32_t token) const {
  if (token == mask_token_) return mask_glyph;
  if (token == end_token_) return "␃";
  if (tokenizer_.is_control(token)) return "□";
  std::string text = tokenizer_.decode(std::span(&token, 1), loader::tokenizer::show::text_and_control);
  if (text == "\n") return "⏎";
  return text;
}

void progress_view::stream_text(std::span<const std::uint32_t> tokens, std::uint32_t until) {
  until = std::min<std::uint32_t>(until, static_cast<std::uint32_t>(tokens.size()));
  for (; shown_ < until && !ended_; ++shown_) {
    if (tokens[shown_] == end_token_) {
      ended_ = true;
    } else {
      out_ << tokenizer_.decode(tokens.subspan(shown_, 1));
    }
  }
  out_ << std::flush;
}

void progress_view::draw(const forward_record& record, std::span<const std::uint32_t> tokens) {
  out_ << "  " << std::right << std::setw(10) << record.forward << "  ";
  // From the block on, or from an earlier token that was revised.
  std::uint32_t begin = std::max(record.first, prompt_tokens_);
  for (const commit& c : record.commits) begin = std::min(begin, c.position);
  const auto end = std::min<std::uint32_t>(record.first + record.length, static_cast<std::uint32_t>(tokens.size()));
  for (std::uint32_t position = begin; position < end; ++position) {
    const bool fresh = std::any_of(record.commits.begin(), record.commits.end(),
                                   [&](const commit& c) { return c.position == position; });
    const bool masked = tokens[position] == mask_token_;
    if (colour_ && (fresh || masked)) out_ << (fresh ? new_token : dim);
    out_ << visible(tokens[position]);
    if (colour_ && (fresh || masked)) out_ << plain;
  }
  out_ << "  +" << record.commits.size() << '\n' << std::flush;
}

}  // namespace dvp::platform
