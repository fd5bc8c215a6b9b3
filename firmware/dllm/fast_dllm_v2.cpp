#include "firmware/dllm/fast_dllm_v2.h"

#include <algorithm>

#include "firmware/dllm/drafts.h"

namespace dvp::dllm {
namespace {

using gen::result_code;

window rows_of(std::uint32_t first, std::uint32_t length) {
  return {.first = first, .rows = length, .keys = first + length};
}

// Sets the total when the answer is complete: `known` positions hold tokens, none of them a mask.
bool answered(session& s, std::uint32_t known) {
  const std::uint32_t prompt = s.request().prompt_tokens;
  const std::uint32_t limit = prompt + s.request().generate_tokens;
  const std::uint32_t end = s.behind_end_token(prompt, std::min(known, limit));
  if (end == 0 && known < limit) {
    return false;
  }
  s.result().total_tokens = end != 0 ? end : limit;
  return true;
}

std::uint32_t known_positions(const block& b) {
  return b.first + (b.masks == 0 ? b.length : lowest(b.masks));
}

bool is_inclusive(const gen::request_record& request) {
  return (request.flags & gen::request_flag::threshold_inclusive) != 0;
}

// Threshold, or factor where the request says so.
position_set choose_by_rule(const gen::request_record& request, std::span<const float> confidences,
                            position_set candidates) {
  const bool inclusive = is_inclusive(request);
  return request.rule == gen::commit_rule::factor
             ? choose_by_factor(confidences, candidates, request.factor, inclusive)
             : choose_by_threshold(confidences, candidates, request.threshold, inclusive);
}

// Denoises a block, sub-block by sub-block, until it is full or the answer complete. With drafts, positions of later
// sub-blocks are predicted too, since their rows are in the window anyway: drafts.h, with sub-blocks for blocks.
class block_denoiser {
 public:
  block_denoiser(session& s, block& b) : s_(s), request_(s.request()), block_(b) { drafts_.base = b.first; }

  result_code run() {
    s_.begin(gen::compression_span::block);
    result_code code = result_code::ok;
    for (std::uint32_t sub = 0; sub < block_.length && code == result_code::ok; sub += request_.sub_block_length) {
      s_.begin(gen::compression_span::sub_block);
      code = denoise(sub);
    }
    return code;
  }

 private:
  result_code denoise(std::uint32_t first) {
    const position_set sub_block = positions(first, request_.sub_block_length);
    draft_set drafted = drafts_;
    drafted.held &= sub_block;
    drafts_.held &= ~sub_block;
    while ((block_.masks & sub_block) != 0 && !answered(s_, known_positions(block_))) {
      const position_set candidates = block_.masks & sub_block;
      const position_set ahead = positions_ahead(first + request_.sub_block_length, candidates);
      show(drafts_, s_.tokens());
      const result_code code = s_.predict(rows_of(block_.first, block_.length), block_, candidates | ahead);
      hide(drafts_, s_.tokens(), s_.model().mask_token);
      if (code != result_code::ok) {
        return code;
      }
      const position_set accepted = confirmed(drafted, s_.confidences(), s_.predicted(), candidates);
      s_.result().drafts_accepted += count(accepted);
      s_.result().drafts_rejected += count(drafted.held & ~accepted);
      drafted.held = 0;
      s_.result().drafts_offered += add_drafts(drafts_, s_.confidences(), s_.predicted(), ahead,
                                               request_.draft_threshold, is_inclusive(request_));
      s_.commit(block_, choose_by_rule(request_, s_.confidences(), candidates) | accepted,
                block_.first + block_.length);
    }
    return result_code::ok;
  }

  // Masks behind the sub-block that a forward is asked about to draft them.
  position_set positions_ahead(std::uint32_t end, position_set candidates) const {
    if (count(candidates) >= request_.draft_trigger || end >= block_.length) {
      return 0;
    }
    const std::uint32_t rows = std::min(request_.draft_look_ahead, block_.length - end);
    return positions(end, rows) & block_.masks & ~drafts_.held;
  }

  session& s_;
  const gen::request_record& request_;
  block& block_;
  draft_set drafts_;  // by position in the block
};

// Whole blocks of the prompt; the last one predicts the first token of the answer if nothing is left over.
result_code prefill(session& s, std::uint32_t prompt, std::uint32_t length) {
  for (std::uint32_t first = 0; first + length <= prompt; first += length) {
    const window rows = rows_of(first, length);
    const result_code code = first + length == prompt ? s.fill_and_append(rows, length)
                                                      : s.fill(rows, {.first = first, .length = length}, prompt);
    if (code != result_code::ok) {
      return code;
    }
  }
  return result_code::ok;
}

}  // namespace

result_code run_fast_dllm_v2(session& s) {
  const std::uint32_t prompt = s.request().prompt_tokens;
  const std::uint32_t length = s.request().block_length;
  result_code code = prefill(s, prompt, length);
  std::uint32_t known = prompt % length == 0 ? prompt + 1 : prompt;
  while (code == result_code::ok && !answered(s, known)) {
    const std::uint32_t first = (known - 1) / length * length;
    block b = s.open_block(first, length, known);
    code = block_denoiser(s, b).run();
    if (code != result_code::ok || answered(s, known_positions(b))) {
      if (b.masks == 0) {
        s.block_complete(b, first + length);
      }
      break;
    }
    s.block_complete(b, first + length);
    code = s.fill_and_append(rows_of(first, length), length);
    known = first + length + 1;
  }
  return code;
}

}  // namespace dvp::dllm
