#include "firmware/kernels/narrow_correction.h"

#include <algorithm>

namespace dvp::kernels {

using gen::precision;
using gen::purpose;
using gen::vector_function;

narrow_correction::narrow_correction(const config& model, const factors& f, std::uint32_t rank, std::uint32_t number,
                                     run_state& state, const row_span& span)
    : model_(model),
      factors_(f),
      rank_(f.channels.rows == 0 ? 0 : rank),
      most_(f.channels.columns / 3),
      state_(state),
      span_(span) {
  std::uint32_t next = state.plan.corrections[number].address;
  const auto place = [&](std::uint32_t rows, std::uint32_t row_bytes) {
    const matrix m{next, row_bytes};
    next += (rows * row_bytes + 3) / 4 * 4;
    return m;
  };
  wide_ = place(span.rows, 2 * rank * 4);
  down_wide_ = place(span.rows, rank * 4);
  projected_ = place(span.rows, 2 * rank * 2);
  down_ = place(span.rows, rank * 2);
  inputs_ = place(2 * rank, model.width * 2);
  outputs_ = place(model.width, rank * 2);
}

void narrow_correction::prepare(const matrix& difference) {
  state_.stream.load({.dram = factors_.inputs.data,
                      .dram_stride = factors_.inputs.row_bytes,
                      .dram_plane_stride = most_ * factors_.inputs.row_bytes,
                      .scratchpad = inputs_,
                      .plane_stride = rank_ * inputs_.stride,
                      .row_bytes = inputs_.stride,
                      .rows = rank_,
                      .planes = 2,
                      .purpose = purpose::corrections,
                      .precision = precision::bf16});
  state_.stream.load({.dram = factors_.outputs.data,
                      .dram_stride = factors_.outputs.row_bytes,
                      .scratchpad = outputs_,
                      .row_bytes = outputs_.stride,
                      .rows = model_.width,
                      .purpose = purpose::corrections,
                      .precision = precision::bf16});
  state_.stream.multiply({.precision = precision::bf16,
                          .tokens = span_.rows,
                          .vectors = 2 * rank_,
                          .reduction = model_.width,
                          .group = model_.width,
                          .x = difference,
                          .w = inputs_,
                          .scales = {},
                          .out = wide_});
  state_.stream.apply({.function = vector_function::to_bf16,
                       .rows = span_.rows,
                       .columns = 2 * rank_,
                       .s0 = wide_,
                       .s1 = {},
                       .d = projected_});
}

void narrow_correction::fetch(std::uint64_t order, std::uint32_t channels, const matrix& rows) {
  state_.stream.gather({.dram = factors_.channels.data,
                        .dram_stride = factors_.channels.row_bytes,
                        .scratchpad = rows,
                        .row_bytes = row_bytes(),
                        .rows = channels,
                        .purpose = purpose::corrections,
                        .precision = precision::bf16},
                       order, factors_.channels.rows);
}

void narrow_correction::add_sums(const matrix& rows, std::uint32_t channels, const matrix& gate, const matrix& up) {
  const auto add = [&](std::uint32_t half, const matrix& sums) {
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = span_.rows,
                            .vectors = channels,
                            .reduction = rank_,
                            .group = rank_,
                            .x = projected_.from(0, half * rank_ * 2),
                            .w = rows.from(0, half * most_ * 2),
                            .scales = {},
                            .out = sums,
                            .accumulate = true,
                            .transposed_out = true});
  };
  add(0, gate);
  add(1, up);
}

void narrow_correction::turn(const matrix& rows, std::uint32_t channels, std::uint32_t numbers, std::uint32_t turned) {
  state_.stream.apply({.function = vector_function::gather_transpose,
                       .rows = channels,
                       .columns = rank_,
                       .s0 = rows.from(0, 2 * most_ * 2),
                       .s1 = {numbers, 4},
                       .d = {turned, channels * 2},
                       .scalar_int = channels});
}

void narrow_correction::add_down(std::uint32_t turned, std::uint32_t channels, const matrix& activation) {
  state_.stream.multiply({.precision = precision::bf16,
                          .tokens = span_.rows,
                          .vectors = rank_,
                          .reduction = channels,
                          .group = channels,
                          .x = activation,
                          .w = {turned, channels * 2},
                          .scales = {},
                          .out = down_wide_,
                          .accumulate = summing_,
                          .transposed_x = true});
  summing_ = true;
}

void narrow_correction::finish(const matrix& output) {
  state_.stream.apply({.function = vector_function::to_bf16,
                       .rows = span_.rows,
                       .columns = rank_,
                       .s0 = down_wide_,
                       .s1 = {},
                       .d = down_});
  const std::uint32_t most = state_.limits.accumulator_vectors;
  for (std::uint32_t first = 0; first < model_.width; first += most) {
    state_.stream.multiply({.precision = precision::bf16,
                            .tokens = span_.rows,
                            .vectors = std::min(most, model_.width - first),
                            .reduction = rank_,
                            .group = rank_,
                            .x = down_,
                            .w = outputs_.from(first),
                            .scales = {},
                            .out = output.from(0, first * 4),
                            .accumulate = true});
  }
  summing_ = false;
}

}  // namespace dvp::kernels
