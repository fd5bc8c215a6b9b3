// Row functions of the vector unit for compressed caches and anchored feed-forward networks: the bits are defined here.
//
// All arithmetic is binary32, every operation rounded by itself, NaN canonical. Sums run in ascending index from +0.
// Operands do not overlap unless said. n = 0 does nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dvp::numerics {

// Residual codes of one row: x[i] = s[i] - base[i] (base null: s[i]); m = largest |x[i]| from +0 by |x| > m, so NaN
// never wins; scale = to_fp16(m / 127), an infinite one clamped to 65504; d[i] = x[i] / from_fp16(scale), clamped to
// -127 to 127, rounded to nearest even; 0 for NaN, and all 0 when the scale is 0. Returns the scale.
std::uint16_t encode_row(const float* s, const float* base, std::int8_t* d, std::uint32_t n);

// d[i] = to_bf16(x), x = a[i] - b[i]; a, b bf16. moved: sum of x * x; anchored: sum of b[i] * b[i].
struct squares {
  float moved = 0;
  float anchored = 0;
};
squares difference_row(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* d, std::uint32_t n);

// m[i] = s[i] > m[i] ? s[i] : m[i].
void maximum_row(const float* s, float* m, std::uint32_t n);

// d[i] = to_bf16(s[i] * from_fp16(scales[i])), s bf16. d may equal s.
void scale_columns_row(const std::uint16_t* s, const std::uint16_t* scales, std::uint16_t* d, std::uint32_t n);

// Sum of |s[i]|, s bf16.
float absolute_sum(const std::uint16_t* s, std::uint32_t n);

// x[i] = sum of coefficients[k] * basis[k][i] over the rank, then x[i] + scale * codes[i] when there are codes.
// coefficients bf16 [rank], basis bf16 [rank][n], codes as numbers.
void low_rank_row(const std::uint16_t* coefficients, const std::uint16_t* basis, std::uint32_t rank, float scale,
                  const float* codes, float* x, std::uint32_t n);

// Channels of the feed-forward network, over n tokens. gate_state, up_state: bf16, read unless `fresh` and not
// `add_state`, and replaced. g = gate[i] (+ gate_state[i] with add_state), u likewise; rounded to bf16 they are the new
// state; s' = to_bf16(silu(g) * u) of the rounded ones, s the same of the old state, +0 when fresh;
// d[i] = to_bf16((s' - s) * scale).
struct channel_update {
  bool add_state = false;
  bool fresh = false;
};
void update_row(channel_update mode, const float* gate, const float* up, std::uint16_t* gate_state,
                std::uint16_t* up_state, float scale, std::uint16_t* d, std::uint32_t n);

// The numbers that packed codes stand for, as the array takes them: the code, or with half_step (q4, q2) the middle of
// what it was cut from. precision 8, 4 or 2.
void expand_codes(std::span<const std::byte> packed, std::uint32_t precision, bool half_step, float* values,
                  std::uint32_t n);

// d[c][r] = s[r][c]: codes of `precision` bits packed along the rows of s and of d, which are s_stride and d_stride
// bytes apart; the bits behind the last code of a row of d become 0.
void transpose_codes(const std::byte* s, std::size_t s_stride, std::uint32_t rows, std::uint32_t columns,
                     std::uint32_t precision, std::byte* d, std::size_t d_stride);

}  // namespace dvp::numerics
