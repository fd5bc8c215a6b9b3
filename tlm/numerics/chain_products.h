// The systolic array's arithmetic: the numerics contract for one column tile.
//
// The reduction is cut into chains of `group` elements. For every chain g, streamed vector v and column c
//
//     out[g][v][c] = (((start + w[v][k0] * x[k0][c]) + w[v][k0+1] * x[k0+1][c]) + ...)     k0 = g * group, k ascending
//
// Products and sums are rounded to binary32 one by one (nearest even, subnormals kept); NaN results are 0x7fc00000.
// start is preset[v][c] for chain 0 when there is a preset, else +0.
//
// A streamed vector is bf16 numbers or signed codes of 8, 4 or 2 bits, packed as numerics::converter delivers them:
// little-endian along the reduction, element 0 in the least significant bits. A code stands for itself; with half_step
// a q4 code t stands for (t << 4) | 8 and a q2 code for (t << 6) | 32. A q0 vector has no elements: its sums are their
// starts.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dvp::numerics {

enum class stream_format : std::uint8_t { bf16, q8, q4, q2, q0 };

// Bits of one element.
constexpr std::uint32_t element_bits(stream_format format) {
  constexpr std::uint8_t bits[] = {16, 8, 4, 2, 0};
  return bits[static_cast<std::size_t>(format)];
}

// One streamed vector.
struct stream_vector {
  stream_format format = stream_format::q8;
  bool half_step = false;          // of q4 and q2
  const void* elements = nullptr;  // [reduction], packed; bf16 aligned to 2 bytes; unused with q0

  // Element k as stored: the 16 bits of a bf16 number, or a code, sign extended. Not for q0.
  std::int32_t stored(std::size_t k) const;
  // Element k as the number it stands for. Not for q0.
  float value(std::size_t k) const;
};

struct chain_operands {
  stream_format format = stream_format::q8;
  std::uint32_t columns = 0;                  // tokens, 1 or more
  std::uint32_t vectors = 0;                  // streamed vectors (output channels), 1 or more
  std::uint32_t reduction = 0;                // 1 or more
  std::uint32_t group = 0;                    // chain length, divides reduction
  const std::uint16_t* stationary = nullptr;  // bf16 [reduction][columns], dense
  const void* stream = nullptr;               // [vectors][reduction] of the format, packed
  std::size_t stream_stride = 0;              // elements from vector to vector; a whole number of bytes
  const float* preset = nullptr;              // [vectors][columns], dense; null: +0
  float* out = nullptr;                       // [chains()][vectors][columns], dense
  bool half_step = false;                     // of q4 and q2
  // [vectors], each with its own format and place; format, half_step, stream and stream_stride are then unused.
  const stream_vector* each = nullptr;

  std::uint32_t chains() const { return reduction / group; }
  stream_format format_of(std::uint32_t v) const { return each != nullptr ? each[v].format : format; }
  stream_vector vector(std::uint32_t v) const {
    if (each != nullptr) return each[v];
    const std::size_t offset = stream_stride * v * element_bits(format) / 8;
    return {format, half_step, static_cast<const std::uint8_t*>(stream) + offset};
  }
};

// The definition, written as above; slow.
void chain_products_reference(const chain_operands& operands);

// The same bits, vectorised across columns and streamed vectors, never along the reduction.
void chain_products(const chain_operands& operands);

}  // namespace dvp::numerics
