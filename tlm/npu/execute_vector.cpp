#include "tlm/npu/execute_vector.h"

#include <cstdint>

#include "dvp_gen/numbers.h"
#include "tlm/npu/scratchpad_access.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/rows.h"

namespace dvp::npu {
namespace {

// d[c][r] = s0[r][c] in bf16.
void transpose_to_bf16(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  for (std::uint32_t c = 0; c < d.columns; ++c) {
    std::uint16_t* out = row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, c);
    for (std::uint32_t r = 0; r < d.rows; ++r) {
      out[r] = numerics::to_bf16(row_at<float>(scratchpad, d.s0, d.s0_stride, r)[c]);
    }
  }
}

void execute_row(const gen::vector_descriptor& d, std::span<std::byte> scratchpad, std::uint32_t r) {
  using function = gen::vector_function;
  const std::uint32_t n = d.columns;
  // Made on use: only the operands a function has were checked.
  const auto s0 = [&] { return row_at<float>(scratchpad, d.s0, d.s0_stride, r); };
  const auto s1 = [&] { return row_at<float>(scratchpad, d.s1, d.s1_stride, r); };
  const auto s1_shared = [&] { return row_at<float>(scratchpad, d.s1); };
  const auto out = [&] { return row_at<float>(scratchpad, d.d, d.d_stride, r); };
  const auto out_bf16 = [&] { return row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, r); };
  switch (d.header.function) {
    case function::dequantise:
      numerics::dequantise_row(row_at<std::int8_t>(scratchpad, d.s0, d.s0_stride, r),
                               row_at<std::uint16_t>(scratchpad, d.s1, d.s1_stride, r), gen::numbers::weight_group,
                               out(), n);
      break;
    case function::rms_norm:
      numerics::rms_norm_row(s0(), s1_shared(), d.scalar0, out_bf16(), n);
      break;
    case function::add_row:
      numerics::add_row(s0(), s1_shared(), out(), n);
      break;
    case function::add:
      numerics::add_row(s0(), s1(), out(), n);
      break;
    case function::rope_interleaved:
    case function::rope_halves:
      numerics::rope_row(s0(), s1(), s1() + d.scalar_int / 2, d.header.function == function::rope_halves, d.scalar_int,
                         out_bf16(), n);
      break;
    case function::softmax:
      numerics::softmax_row(s0(), d.scalar0, out_bf16(), n);
      break;
    case function::silu_multiply:
      numerics::silu_multiply_row(s0(), s1(), out_bf16(), n);
      break;
    case function::to_bf16:
      numerics::to_bf16_row(s0(), out_bf16(), n);
      break;
    case function::transpose_to_bf16:
      break;  // not row by row
  }
}

}  // namespace

void execute_vector(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  if (d.header.function == gen::vector_function::transpose_to_bf16) {
    transpose_to_bf16(d, scratchpad);
    return;
  }
  for (std::uint32_t r = 0; r < d.rows; ++r) execute_row(d, scratchpad, r);
}

}  // namespace dvp::npu
