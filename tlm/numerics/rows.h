// The vector unit, one row at a time: the bits of every function are defined here.
//
// All arithmetic is binary32, every operation rounded by itself, NaN canonical. Sums run in ascending index from +0.
// A destination may equal a source of the same element size; otherwise operands do not overlap. n = 0 does nothing.
#pragma once

#include <cstdint>

namespace dvp::numerics {

// d[i] = from_fp16(scales[i / group]) * codes[i]. group: 1 or more.
void dequantise_row(const std::int8_t* codes, const std::uint16_t* scales, std::uint32_t group, float* d,
                    std::uint32_t n);

// s = sum of x[i] * x[i]; m = s / n (binary32 division by the rounded n); r = rsqrt(m + epsilon);
// d[i] = to_bf16((x[i] * r) * weight[i]).
void rms_norm_row(const float* x, const float* weight, float epsilon, std::uint16_t* d, std::uint32_t n);

// d[i] = a[i] + b[i].
void add_row(const float* a, const float* b, float* d, std::uint32_t n);

// Rotates the pairs of every head; n is a multiple of head_length, which is even. Pair p of a head is the elements
// (2p, 2p + 1), or with halves (p, p + head_length / 2); with (a, b) such a pair and c = cosines[p], s = sines[p]:
//     a' = to_bf16((a * c) - (b * s)),   b' = to_bf16((a * s) + (b * c)).
void rope_row(const float* x, const float* cosines, const float* sines, bool halves, std::uint32_t head_length,
              std::uint16_t* d, std::uint32_t n);

// t[i] = scale * x[i]; m = largest t[i], from minus infinity by t[i] > m, so NaN never wins; e[i] = exp(t[i] - m);
// s = sum of e[i]; d[i] = to_bf16(e[i] * reciprocal(s)).
// A NaN anywhere, only minus infinities, or a plus infinity make the whole row NaN.
void softmax_row(const float* x, float scale, std::uint16_t* d, std::uint32_t n);

// d[i] = to_bf16(silu(gate[i]) * up[i]).
void silu_multiply_row(const float* gate, const float* up, std::uint16_t* d, std::uint32_t n);

// d[i] = to_bf16(x[i]).
void to_bf16_row(const float* x, std::uint16_t* d, std::uint32_t n);

}  // namespace dvp::numerics
