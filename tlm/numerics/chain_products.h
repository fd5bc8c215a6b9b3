// The systolic array's arithmetic: the numerics contract for one column tile.
//
// The reduction is cut into chains of `group` elements. For every chain g, streamed vector v and column c
//
//     out[g][v][c] = (((start + w[v][k0] * x[k0][c]) + w[v][k0+1] * x[k0+1][c]) + ...)     k0 = g * group, k ascending
//
// Products and sums are rounded to binary32 one by one (nearest even, subnormals kept); NaN results are 0x7fc00000.
// start is preset[v][c] for chain 0 when there is a preset, else +0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dvp::numerics {

enum class stream_format : std::uint8_t { bf16, q8 };

struct chain_operands {
  stream_format format = stream_format::q8;
  std::uint32_t columns = 0;                  // tokens, 1 or more
  std::uint32_t vectors = 0;                  // streamed vectors (output channels), 1 or more
  std::uint32_t reduction = 0;                // 1 or more
  std::uint32_t group = 0;                    // chain length, divides reduction
  const std::uint16_t* stationary = nullptr;  // bf16 [reduction][columns], dense
  const void* stream = nullptr;               // int8_t or bf16 [vectors][reduction]
  std::size_t stream_stride = 0;              // elements from vector to vector
  const float* preset = nullptr;              // [vectors][columns], dense; null: +0
  float* out = nullptr;                       // [chains()][vectors][columns], dense

  std::uint32_t chains() const { return reduction / group; }
};

// The definition, written as above; slow.
void chain_products_reference(const chain_operands& operands);

// The same bits, vectorised across columns and streamed vectors, never along the reduction.
void chain_products(const chain_operands& operands);

}  // namespace dvp::numerics
