#include "firmware/dllm/fast_dllm_v2.h"

#include <algorithm>

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

// Threshold, or factor where the request says so.
position_set choose_by_rule(const gen::request_record& request, std::span<const float> confidences,
                            position_set candidates) {
  const bool inclusive = (request.flags & gen::request_flag::threshold_inclusive) != 0;
  return request.rule == gen::commit_rule::factor
             ? choose_by_factor(confidences, candidates, request.factor, inclusive)
             : choose_by_threshold(confidences, candidates, request.threshold, inclusive);
}

// Denoises a block, sub-block by sub-block, until it is full or the answer complete.
result_code denoise(session& s, block& b) {
  const gen::request_record& request = s.request();
  for (std::uint32_t sub = 0; sub < b.length; sub += request.sub_block_length) {
    const position_set sub_block = positions(sub, request.sub_block_length);
    while ((b.masks & sub_block) != 0 && !answered(s, known_positions(b))) {
      const position_set candidates = b.masks & sub_block;
      const result_code code = s.predict(rows_of(b.first, b.length), b, candidates);
      if (code != result_code::ok) {
        return code;
      }
      s.commit(b, choose_by_rule(request, s.confidences(), candidates), b.first + b.length);
    }
  }
  return result_code::ok;
}

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
    code = denoise(s, b);
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
