#include "firmware/dllm/llada.h"

namespace dvp::dllm {

gen::result_code run_llada(session& s) {
  const gen::request_record& request = s.request();
  const std::uint32_t total = request.prompt_tokens + request.generate_tokens;
  const std::uint32_t length = request.block_length;
  const std::uint32_t steps = request.steps / (request.generate_tokens / length);
  const bool stop_at_end = (request.flags & gen::request_flag::stop_at_end) != 0;
  const window everything{.first = 0, .rows = total, .keys = total};

  for (std::uint32_t position = request.prompt_tokens; position < total; ++position) {
    s.tokens()[position] = s.model().mask_token;
  }
  s.result().total_tokens = total;
  for (std::uint32_t first = request.prompt_tokens; first < total; first += length) {
    block b = s.open_block(first, length, first);
    for (std::uint32_t step = 0; step < steps && b.masks != 0; ++step) {
      const gen::result_code code = s.predict(everything, b, b.masks);
      if (code != gen::result_code::ok) {
        return code;
      }
      s.commit(b, choose_by_count(s.confidences(), b.masks, transfer_count(length, steps, step)), total);
    }
    s.block_complete(b, total);
    const std::uint32_t end = stop_at_end ? s.behind_end_token(first, first + length) : 0;
    if (end != 0) {
      s.result().total_tokens = end;
      break;
    }
  }
  return gen::result_code::ok;
}

}  // namespace dvp::dllm
