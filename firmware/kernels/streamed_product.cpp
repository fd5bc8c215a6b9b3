#include "firmware/kernels/streamed_product.h"

#include <algorithm>

namespace dvp::kernels {
namespace {

// Below this many vectors a fold's fixed cost shows; above it, more only makes pieces larger.
constexpr std::uint32_t busy_vectors = 64;

std::uint32_t vector_bytes(gen::precision precision, std::uint32_t reduction) {
  return precision == gen::precision::q8 ? reduction + reduction / weight_group * 2 : reduction * 2;
}

// The smallest equal share of `total` in as few parts as parts of `most` would be, in multiples of `unit`.
std::uint32_t level(std::uint32_t total, std::uint32_t most, std::uint32_t unit) {
  const std::uint32_t parts = (total + most - 1) / most;
  const std::uint32_t share = (total + parts - 1) / parts;
  return std::min(most, (share + unit - 1) / unit * unit);
}

}  // namespace

streamed_operand weight_rows(const tensor& weight, std::uint32_t first, std::uint32_t first_input) {
  const bool coded = weight.format == gen::tensor_format::q8_group32;
  const std::uint32_t element_bytes = coded ? 1 : 2;
  return {.precision = coded ? gen::precision::q8 : gen::precision::bf16,
          .data = weight.data + std::uint64_t{first} * weight.row_bytes + std::uint64_t{first_input} * element_bytes,
          .stride = weight.row_bytes,
          .scales = weight.scales + std::uint64_t{first} * weight.scale_row_bytes + first_input / weight_group * 2,
          .scale_stride = weight.scale_row_bytes};
}

piece choose_piece(std::uint32_t staging_bytes, std::uint32_t accumulator_vectors, gen::precision precision,
                   std::uint32_t vectors, std::uint32_t reduction) {
  const std::uint32_t room = staging_bytes - staging_gap;
  const std::uint32_t most = std::min(vectors, accumulator_vectors);
  const std::uint32_t enough = std::min(most, busy_vectors);
  const std::uint32_t whole = room / vector_bytes(precision, reduction);
  if (whole >= enough) {
    return {.vectors = level(vectors, std::min(most, whole), 1), .reduction = reduction};
  }
  const std::uint32_t group_bytes = vector_bytes(precision, weight_group);
  const std::uint32_t groups = std::max(1u, room / (enough * group_bytes));
  return {.vectors = std::min(enough, room / group_bytes),
          .reduction = level(reduction, groups * weight_group, weight_group)};
}

void stream_product(run_state& state, const streamed_operand& w, std::uint32_t vectors, std::uint32_t reduction,
                    const matrix& x, std::uint32_t tokens, const matrix& out, bool accumulate) {
  const bool coded = w.precision == gen::precision::q8;
  const std::uint32_t element_bytes = coded ? 1 : 2;
  const piece size =
      choose_piece(state.plan.staging[0].bytes, state.limits.accumulator_vectors, w.precision, vectors, reduction);
  for (std::uint32_t v = 0; v < vectors; v += size.vectors) {
    for (std::uint32_t k = 0; k < reduction; k += size.reduction) {
      const piece part{.vectors = std::min(size.vectors, vectors - v),
                       .reduction = std::min(size.reduction, reduction - k)};
      const std::uint32_t code_bytes = part.reduction * element_bytes;
      const std::uint32_t scale_bytes = part.reduction / weight_group * 2;
      const std::uint32_t stage = state.staging.next(state.plan.staging).address;
      const matrix codes{stage, code_bytes};
      const matrix scales{stage + (code_bytes * part.vectors + staging_gap - 1) / staging_gap * staging_gap,
                          scale_bytes};
      state.stream.load({.dram = w.data + std::uint64_t{v} * w.stride + std::uint64_t{k} * element_bytes,
                         .dram_stride = w.stride,
                         .scratchpad = codes,
                         .row_bytes = code_bytes,
                         .rows = part.vectors,
                         .purpose = w.purpose,
                         .precision = w.precision,
                         .object = w.object});
      if (coded) {
        state.stream.load({.dram = w.scales + std::uint64_t{v} * w.scale_stride + k / weight_group * 2,
                           .dram_stride = w.scale_stride,
                           .scratchpad = scales,
                           .row_bytes = scale_bytes,
                           .rows = part.vectors,
                           .purpose = gen::purpose::scales});
      }
      state.stream.multiply({.precision = w.precision,
                             .tokens = tokens,
                             .vectors = part.vectors,
                             .reduction = part.reduction,
                             .group = coded ? weight_group : part.reduction,
                             .x = x.from(0, k * 2),
                             .w = codes,
                             .scales = scales,
                             .out = out.from(0, v * 4),
                             .accumulate = accumulate || k != 0});
    }
  }
}

}  // namespace dvp::kernels
