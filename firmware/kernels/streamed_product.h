// Products whose streamed operand is larger than the scratchpad: piece by piece through two staging regions, the next
// piece on its way while the array works on this one.
#pragma once

#include <cstdint>

#include "firmware/kernels/run_state.h"

namespace dvp::kernels {

// The streamed operand in DRAM, [vectors][reduction].
struct streamed_operand {
  gen::precision precision = gen::precision::q8;  // q8 or bf16
  gen::purpose purpose = gen::purpose::weights;
  dram_object object = dram_object::nothing;
  std::uint64_t data = 0;
  std::uint32_t stride = 0;  // bytes from vector to vector
  std::uint64_t scales = 0;
  std::uint32_t scale_stride = 0;
};

// A weight matrix from output channel `first` and input channel `first_input`, a multiple of the group, on.
streamed_operand weight_rows(const tensor& weight, std::uint32_t first, std::uint32_t first_input = 0);

struct piece {
  std::uint32_t vectors = 0;
  std::uint32_t reduction = 0;
};

// The largest piece of [vectors][reduction] that a staging region of `staging_bytes` holds. The reduction is cut, to
// whole groups, only when fewer vectors than keep the array busy would fit otherwise. vectors is at most
// accumulator_vectors. Pieces of a product are nearly equal.
piece choose_piece(std::uint32_t staging_bytes, std::uint32_t accumulator_vectors, gen::precision precision,
                   std::uint32_t vectors, std::uint32_t reduction);

// out[t][v] (+)= sum over k of x[t][k] * w[v][k]: fp32 [tokens][vectors] from bf16 [tokens][reduction]. With
// accumulate, and from piece to piece of the reduction, the sum goes on from out: the same bits as in one go.
void stream_product(run_state& state, const streamed_operand& w, std::uint32_t vectors, std::uint32_t reduction,
                    const matrix& x, std::uint32_t tokens, const matrix& out, bool accumulate = false);

}  // namespace dvp::kernels
