#include "firmware/kernels/projection.h"

namespace dvp::kernels {

matrix project(const config& model, const tensor& weight, std::uint32_t bias_place, std::uint32_t first,
               std::uint32_t channels, run_state& state, const row_span& span) {
  const matrix out{state.result.next(state.plan.results).address, channels * 4};
  stream_product(state, weight_rows(weight, first), channels, model.width, span.normed, span.rows, out);
  if (model.qkv_bias) {
    state.stream.apply({.function = gen::vector_function::add_row,
                        .rows = span.rows,
                        .columns = channels,
                        .s0 = out,
                        .s1 = {bias_place + first * 4, 0},
                        .d = out});
  }
  return out;
}

void load_bias(const config& model, const tensor& bias, std::uint32_t place, run_state& state) {
  if (model.qkv_bias) {
    state.stream.load({.dram = bias.data,
                       .scratchpad = {place, 0},
                       .row_bytes = bias.columns * 4,
                       .purpose = gen::purpose::parameters});
  }
}

bias_places places_of(const config& model, const scratchpad_plan& plan) {
  const std::uint32_t q = plan.biases.address;
  const std::uint32_t k = q + model.query_width() * 4;
  return {.q = q, .k = k, .v = k + model.kv_width() * 4};
}

gen::vector_function rope_function(const config& model) {
  return model.rope_halves ? gen::vector_function::rope_halves : gen::vector_function::rope_interleaved;
}

}  // namespace dvp::kernels
