#include <algorithm>

#include "firmware/kernels/layer.h"
#include "firmware/kernels/streamed_product.h"

namespace dvp::kernels {

using gen::operator_label;

void sample_rows(const config& model, const weights& w, run_state& state, const row_span& span,
                 const sampling_rule& rule, std::uint32_t first_result) {
  normalise(model, w.output_norm, state.plan.ffn_norm, operator_label::output_norm, 0, state, span);
  const std::uint32_t states = state.plan.samples.address;
  const std::uint32_t records = states + span.rows * static_cast<std::uint32_t>(sizeof(gen::sampling_state));
  const std::uint32_t chunk =
      std::min({state.limits.accumulator_vectors, state.plan.results[0].bytes / (span.rows * 4), model.vocabulary});
  for (std::uint32_t first = 0, tokens = 0; first < model.vocabulary; first += tokens) {
    tokens = state.enter({operator_label::head, 0, first}, std::min(chunk, model.vocabulary - first));
    const matrix logits{state.result.next(state.plan.results).address, tokens * 4};
    state.stream.label(operator_label::head, 0);
    stream_product(state, weight_rows(w.output, first), tokens, model.width, span.normed, span.rows, logits);
    gen::sample_descriptor d;
    d.header.flags =
        static_cast<std::uint8_t>((first == 0 ? gen::descriptor_flag::first_chunk : 0) |
                                  (first + tokens == model.vocabulary ? gen::descriptor_flag::last_chunk : 0));
    d.rows = span.rows;
    d.columns = tokens;
    d.logits = logits.address;
    d.logits_stride = logits.stride;
    d.first_token = first;
    d.suppressed_token = rule.suppressed_token;
    d.state = states;
    d.result = records;
    d.temperature = rule.temperature;
    d.noise_key_lo = static_cast<std::uint32_t>(rule.noise_key);
    d.noise_key_hi = static_cast<std::uint32_t>(rule.noise_key >> 32);
    d.first_row = span.first;
    state.stream.label(operator_label::sampling, 0);
    state.stream.sample(d);
  }
  const std::uint32_t record_bytes = static_cast<std::uint32_t>(sizeof(gen::sample_record));
  state.stream.store({.dram = state.results + std::uint64_t{first_result} * record_bytes,
                      .scratchpad = {records, 0},
                      .row_bytes = span.rows * record_bytes,
                      .purpose = gen::purpose::results});
}

}  // namespace dvp::kernels
