// What brings rows in and out and normalises them.
#include <algorithm>

#include "firmware/kernels/layer.h"

namespace dvp::kernels {
namespace {

using gen::operator_label;
using gen::vector_function;

// The array is what widens bf16 to fp32: a product with the identity is exact for finite values, -0 becoming +0.
void widen(const config& model, run_state& state, const matrix& rows, std::uint32_t count, const matrix& out) {
  const std::uint32_t group = weight_group;
  const std::uint32_t step = std::min(group, state.limits.accumulator_vectors);
  const matrix identity{state.plan.identity.address, group * 2};
  state.stream.load({.dram = state.identity,
                     .scratchpad = {identity.address, 0},
                     .row_bytes = group * group * 2,
                     .purpose = gen::purpose::parameters});
  for (std::uint32_t c = 0; c < model.width; c += step) {
    const std::uint32_t columns = std::min(step, model.width - c);
    state.stream.multiply({.precision = gen::precision::bf16,
                           .tokens = count,
                           .vectors = columns,
                           .reduction = columns,
                           .group = columns,
                           .x = rows.from(0, c * 2),
                           .w = identity,
                           .scales = {},
                           .out = out.from(0, c * 4)});
  }
}

}  // namespace

void embed(const config& model, const weights& w, run_state& state, const row_span& span) {
  const tensor& table = w.embedding;
  const bool coded = table.format == gen::tensor_format::q8_group32;
  const std::uint32_t data_bytes = model.width * (coded ? 1 : 2);
  const std::uint32_t scale_bytes = coded ? model.width / weight_group * 2 : 0;
  const std::uint32_t most = (state.plan.staging[0].bytes - staging_gap) / (data_bytes + scale_bytes);
  state.enter({operator_label::embedding, 0, 0}, table.rows);
  state.stream.label(operator_label::embedding, 0);
  for (std::uint32_t r = 0; r < span.rows; r += most) {
    const std::uint32_t rows = std::min(most, span.rows - r);
    const std::uint64_t list = state.tokens + sizeof(std::uint32_t) * (std::uint64_t{span.first} + r);
    const std::uint32_t stage = state.staging.next(state.plan.staging).address;
    const matrix data{stage, data_bytes};
    state.stream.gather({.dram = table.data,
                         .dram_stride = table.row_bytes,
                         .scratchpad = data,
                         .row_bytes = data_bytes,
                         .rows = rows,
                         .purpose = gen::purpose::embedding,
                         .precision = coded ? gen::precision::q8 : gen::precision::bf16},
                        list, table.rows);
    if (!coded) {
      widen(model, state, data, rows, span.residual.from(r));
      continue;
    }
    const matrix scales{stage + (data_bytes * rows + staging_gap - 1) / staging_gap * staging_gap, scale_bytes};
    state.stream.gather({.dram = table.scales,
                         .dram_stride = table.scale_row_bytes,
                         .scratchpad = scales,
                         .row_bytes = scale_bytes,
                         .rows = rows,
                         .purpose = gen::purpose::embedding},
                        list, table.rows);
    state.stream.apply({.function = vector_function::dequantise,
                        .rows = rows,
                        .columns = model.width,
                        .s0 = data,
                        .s1 = scales,
                        .d = span.residual.from(r)});
  }
}

void load_rope(const config& model, const weights& w, run_state& state, const row_span& span) {
  state.stream.label(operator_label::query_projection, 0);
  state.stream.load({.dram = w.rope_table.data + std::uint64_t{span.first} * w.rope_table.row_bytes,
                     .dram_stride = w.rope_table.row_bytes,
                     .scratchpad = span.rope,
                     .row_bytes = model.head_length * 4,
                     .rows = span.rows,
                     .purpose = gen::purpose::parameters});
}

namespace {

transfer residual_rows(const config& model, const run_state& state, const row_span& span, std::uint32_t first_row) {
  const std::uint32_t row_bytes = model.width * 4;
  return {.dram = state.residual + std::uint64_t{first_row} * row_bytes,
          .dram_stride = row_bytes,
          .scratchpad = span.residual,
          .row_bytes = row_bytes,
          .rows = span.rows,
          .purpose = gen::purpose::activations,
          .object = dram_object::residual};
}

}  // namespace

void load_residual(const config& model, run_state& state, const row_span& span, std::uint32_t first_row) {
  state.stream.label(operator_label::residual, 0);
  state.stream.load(residual_rows(model, state, span, first_row));
}

void store_residual(const config& model, run_state& state, const row_span& span, std::uint32_t first_row) {
  state.stream.label(operator_label::residual, 0);
  state.stream.store(residual_rows(model, state, span, first_row));
}

void normalise(const config& model, const tensor& weight, const region& place, operator_label label,
               std::uint32_t layer, run_state& state, const row_span& span) {
  state.stream.label(label, layer);
  state.stream.load({.dram = weight.data,
                     .scratchpad = {place.address, 0},
                     .row_bytes = model.width * 4,
                     .purpose = gen::purpose::parameters});
  normalise_again(model, place, state, span);
}

void normalise_again(const config& model, const region& place, run_state& state, const row_span& span) {
  state.stream.apply({.function = vector_function::rms_norm,
                      .rows = span.rows,
                      .columns = model.width,
                      .s0 = span.residual,
                      .s1 = {place.address, 0},
                      .d = span.normed,
                      .scalar0 = model.norm_epsilon});
}

}  // namespace dvp::kernels
