#include "firmware/dllm/llada.h"

#include <algorithm>

#include "firmware/dllm/drafts.h"

namespace dvp::dllm {
namespace {

using gen::cache_mode;
using gen::commit_rule;
using gen::result_code;

// Where a block stands.
struct block_progress {
  std::uint32_t forwards = 0;
  std::uint32_t edit_only = 0;  // of these, without masks
  position_set last_masks = 0;  // before the last one; never empty without editing while there is a next one
  position_set last_edits = 0;
};

class block_decoder {
 public:
  explicit block_decoder(session& s)
      : s_(s),
        request_(s.request()),
        total_(request_.prompt_tokens + request_.generate_tokens),
        steps_(request_.steps / (request_.generate_tokens / request_.block_length)),
        rule_(request_.rule != commit_rule::by_loop      ? request_.rule
              : request_.loop == gen::decode_loop::llada ? commit_rule::count
                                                         : commit_rule::threshold),
        inclusive_((request_.flags & gen::request_flag::threshold_inclusive) != 0),
        editing_(request_.edit_threshold > 0),
        drafting_(request_.draft_trigger != 0),
        latencies_(read_latencies(request_, s.row_tile())) {
    drafts_.base = request_.prompt_tokens;
  }

  result_code run();

 private:
  result_code denoise(block& b);
  result_code first_forward(block& b, const draft_set& drafted, block_progress& p);
  result_code step(block& b, block_progress& p);
  bool complete(const block& b, const block_progress& p) const;

  window everything() const { return {.first = 0, .rows = total_, .keys = total_}; }
  window rows_of_step(const block& b, const block_progress& p, bool drafts_wanted) const;
  result_code forward(const window& rows, block& b, position_set ahead);
  position_set choose(const block& b, const block_progress& p) const;
  void finish(block& b, position_set chosen, block_progress& p);

  session& s_;
  const gen::request_record& request_;
  std::uint32_t total_;
  std::uint32_t steps_;  // per block
  commit_rule rule_;
  bool inclusive_;
  bool editing_;
  bool drafting_;
  latency_table latencies_;
  draft_set drafts_;
};

result_code block_decoder::run() {
  const std::uint32_t length = request_.block_length;
  const bool stop_at_end = (request_.flags & gen::request_flag::stop_at_end) != 0;
  std::fill(s_.tokens().begin() + request_.prompt_tokens, s_.tokens().begin() + total_, s_.model().mask_token);
  s_.result().total_tokens = total_;
  for (std::uint32_t first = request_.prompt_tokens; first < total_; first += length) {
    block b = s_.open_block(first, length, first);
    const result_code code = denoise(b);
    if (code != result_code::ok) {
      return code;
    }
    s_.block_complete(b, total_);
    const std::uint32_t end = stop_at_end ? s_.behind_end_token(first, first + length) : 0;
    if (end != 0) {
      s_.result().total_tokens = end;
      break;
    }
  }
  return result_code::ok;
}

result_code block_decoder::denoise(block& b) {
  block_progress p;
  const draft_set drafted = take_block(drafts_, b.length);
  result_code code = first_forward(b, drafted, p);
  while (code == result_code::ok && !complete(b, p)) {
    code = step(b, p);
  }
  return code;
}

bool block_decoder::complete(const block& b, const block_progress& p) const {
  if (b.masks != 0 || (request_.cache != cache_mode::none && p.forwards < 2)) {
    return false;
  }
  return !editing_ || p.edit_only >= request_.edit_steps || (p.edit_only != 0 && p.last_edits == 0);
}

// Over everything: fills the cache, and decides about the drafts of the block, whose positions are masks.
result_code block_decoder::first_forward(block& b, const draft_set& drafted, block_progress& p) {
  const result_code code = forward(everything(), b, 0);
  if (code != result_code::ok) {
    return code;
  }
  const position_set accepted = confirmed(drafted, s_.confidences(), s_.predicted(), b.masks);
  s_.result().drafts_accepted += count(accepted);
  s_.result().drafts_rejected += count(drafted.held & ~accepted);
  finish(b, choose(b, p) | accepted, p);
  return code;
}

result_code block_decoder::step(block& b, block_progress& p) {
  if ((request_.flags & gen::request_flag::clear_cache) != 0) {
    show(drafts_, s_.tokens());
    const result_code code = s_.fill(everything(), b, total_);
    hide(drafts_, s_.tokens(), s_.model().mask_token);
    if (code != result_code::ok) {
      return code;
    }
  }
  const bool wanted = drafting_ && count(b.masks) < request_.draft_trigger;
  const window rows = rows_of_step(b, p, wanted);
  const std::uint32_t end = rows.first + rows.rows;
  const position_set ahead =
      wanted && end > drafts_.base ? positions(0, end - drafts_.base) & ~drafts_.held : position_set{0};
  const result_code code = forward(rows, b, ahead);
  if (code != result_code::ok) {
    return code;
  }
  s_.result().drafts_offered +=
      add_drafts(drafts_, s_.confidences().subspan(b.length), s_.predicted().subspan(b.length), ahead,
                 request_.draft_threshold, inclusive_);
  finish(b, choose(b, p), p);
  return code;
}

window block_decoder::rows_of_step(const block& b, const block_progress& p, bool drafts_wanted) const {
  if (request_.cache == cache_mode::none) {
    return everything();
  }
  const std::uint32_t shift = s_.model().shift_logits ? 1 : 0;
  if (request_.cache == cache_mode::prefix) {
    return {.first = b.first - shift, .rows = total_ - b.first + shift, .keys = total_};
  }
  if (!drafting_) {
    return {.first = b.first - shift, .rows = b.length + shift, .keys = total_};
  }
  const std::uint32_t start = b.first + (editing_ ? 0 : lowest(p.last_masks));
  const std::uint32_t first = start - shift;
  const std::uint32_t end = std::min(start + b.length, total_);
  if (!drafts_wanted) {
    return {.first = first, .rows = end - first, .keys = total_};
  }
  const std::uint32_t limit = std::min({end + request_.draft_look_ahead, drafts_.base + most_drafts, total_});
  return {.first = first, .rows = latencies_.same_time(end - first, limit - first), .keys = total_};
}

// Predicts the block's masks, its filled positions where they may be edited, and the positions ahead; with the drafts
// of later blocks as context.
result_code block_decoder::forward(const window& rows, block& b, position_set ahead) {
  show(drafts_, s_.tokens());
  const result_code code = s_.predict(rows, b, editing_ ? positions(0, b.length) : b.masks, ahead);
  hide(drafts_, s_.tokens(), s_.model().mask_token);
  return code;
}

position_set block_decoder::choose(const block& b, const block_progress& p) const {
  switch (rule_) {
    case commit_rule::by_loop:
    case commit_rule::count:
      return choose_by_count(s_.confidences(), b.masks, transfer_count(b.length, steps_, p.forwards));
    case commit_rule::threshold:
      return choose_by_threshold(s_.confidences(), b.masks, request_.threshold, inclusive_);
    case commit_rule::factor:
      return choose_by_factor(s_.confidences(), b.masks, request_.factor, inclusive_);
  }
  return 0;
}

void block_decoder::finish(block& b, position_set chosen, block_progress& p) {
  ++p.forwards;
  p.edit_only += b.masks == 0 ? 1 : 0;
  p.last_masks = b.masks;
  p.last_edits = editing_ ? choose_edits(s_.confidences(), s_.predicted(), s_.tokens().subspan(b.first),
                                         positions(0, b.length) & ~b.masks, request_.edit_threshold, inclusive_)
                          : position_set{0};
  s_.commit(b, chosen, total_, p.last_edits);
}

}  // namespace

result_code run_llada(session& s) {
  return block_decoder(s).run();
}

}  // namespace dvp::dllm
