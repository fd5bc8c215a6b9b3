#include "tlm/npu/execute_vector.h"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "dvp_gen/numbers.h"
#include "tlm/npu/operands.h"
#include "tlm/npu/scratchpad_access.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/compressed_rows.h"
#include "tlm/numerics/fp32.h"
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

void difference(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  numerics::squares sums;
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    const numerics::squares row =
        numerics::difference_row(row_at<std::uint16_t>(scratchpad, d.s0, d.s0_stride, r),
                                 row_at<std::uint16_t>(scratchpad, d.s1, d.s1_stride, r),
                                 row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, r), d.columns);
    sums.moved = numerics::add(sums.moved, row.moved);
    sums.anchored = numerics::add(sums.anchored, row.anchored);
  }
  float* out = row_at<float>(scratchpad, d.e);
  out[0] = sums.moved;
  out[1] = sums.anchored;
}

void column_max(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  float* largest = row_at<float>(scratchpad, d.d);
  if ((d.header.flags & gen::descriptor_flag::accumulate) == 0) {
    std::fill_n(largest, d.columns, -std::numeric_limits<float>::infinity());
  }
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    numerics::maximum_row(row_at<float>(scratchpad, d.s0, d.s0_stride, r), largest, d.columns);
  }
}

void gather_transpose(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  const std::uint32_t* list = row_at<std::uint32_t>(scratchpad, d.s1);
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    const bool exists = list[r] < d.scalar_int;
    const std::uint16_t* row = exists ? row_at<std::uint16_t>(scratchpad, d.s0, d.s0_stride, list[r]) : nullptr;
    for (std::uint32_t c = 0; c < d.columns; ++c) {
      row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, c)[r] = exists ? row[c] : std::uint16_t{0};
    }
  }
}

void execute_row(const gen::vector_descriptor& d, std::span<std::byte> scratchpad, std::uint32_t r) {
  using function = gen::vector_function;
  const std::uint32_t n = d.columns;
  // Made on use: only the operands a function has were checked.
  const auto s0 = [&] { return row_at<float>(scratchpad, d.s0, d.s0_stride, r); };
  const auto s0_bf16 = [&] { return row_at<std::uint16_t>(scratchpad, d.s0, d.s0_stride, r); };
  const auto s1 = [&] { return row_at<float>(scratchpad, d.s1, d.s1_stride, r); };
  const auto s1_shared = [&] { return row_at<float>(scratchpad, d.s1); };
  const auto out = [&] { return row_at<float>(scratchpad, d.d, d.d_stride, r); };
  const auto out_bf16 = [&] { return row_at<std::uint16_t>(scratchpad, d.d, d.d_stride, r); };
  switch (static_cast<function>(d.header.function)) {
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
      numerics::rope_row(s0(), s1(), s1() + d.scalar_int / 2,
                         static_cast<function>(d.header.function) == function::rope_halves, d.scalar_int, out_bf16(),
                         n);
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
    case function::encode:
      *row_at<std::uint16_t>(scratchpad, d.e, d.e_stride, r) = numerics::encode_row(
          s0(), d.scalar_int != 0 ? s1() : nullptr, row_at<std::int8_t>(scratchpad, d.d, d.d_stride, r), n);
      break;
    case function::scale_columns:
      numerics::scale_columns_row(s0_bf16(), row_at<std::uint16_t>(scratchpad, d.s1), out_bf16(), n);
      break;
    case function::row_abs_sum:
      *out() = numerics::absolute_sum(s0_bf16(), n);
      break;
    case function::difference:
    case function::column_max:
    case function::gather_transpose:
    case function::transpose_codes:
    case function::transpose_to_bf16:
      break;  // not row by row
  }
}

}  // namespace

void execute_vector(const gen::vector_descriptor& d, std::span<std::byte> scratchpad) {
  switch (static_cast<gen::vector_function>(d.header.function)) {
    case gen::vector_function::transpose_to_bf16:
      transpose_to_bf16(d, scratchpad);
      return;
    case gen::vector_function::difference:
      difference(d, scratchpad);
      return;
    case gen::vector_function::column_max:
      column_max(d, scratchpad);
      return;
    case gen::vector_function::gather_transpose:
      gather_transpose(d, scratchpad);
      return;
    case gen::vector_function::transpose_codes:
      numerics::transpose_codes(row_at<std::byte>(scratchpad, d.s0), d.s0_stride, d.rows, d.columns,
                                code_bits(d.header.tag_precision), row_at<std::byte>(scratchpad, d.d), d.d_stride);
      return;
    default:
      for (std::uint32_t r = 0; r < d.rows; ++r) execute_row(d, scratchpad, r);
  }
}

}  // namespace dvp::npu
