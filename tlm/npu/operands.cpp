#include "tlm/npu/operands.h"

#include <algorithm>
#include <limits>

#include "dvp_gen/numbers.h"
#include "tlm/numerics/converter.h"

namespace dvp::npu {
namespace {

constexpr std::uint64_t saturated = std::numeric_limits<std::uint64_t>::max();

std::uint64_t add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? saturated : sum;
}

std::uint64_t multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? saturated : product;
}

operand matrix(std::uint32_t address, std::uint32_t stride, std::uint64_t rows, std::uint64_t columns,
               std::uint32_t element_bytes) {
  operand item;
  item.address = address;
  item.row_bytes = columns * element_bytes;
  item.rows = rows;
  item.stride = stride;
  item.alignment = element_bytes;
  return item;
}

// Codes, packed along each row.
operand packed(std::uint32_t address, std::uint32_t stride, std::uint64_t rows, std::uint64_t columns,
               gen::precision precision) {
  operand item = matrix(address, stride, rows, 1, 1);
  item.row_bytes = packed_bytes(precision, columns);
  return item;
}

// From row to row without gaps; saturated, so that what does not fit is found to reach too far.
std::uint32_t dense(std::uint32_t columns, std::uint32_t element_bytes) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{columns} * element_bytes, std::numeric_limits<std::uint32_t>::max()));
}

operand written(operand item) {
  item.written = true;
  return item;
}

operand_list dma_operands(const gen::dma_descriptor& d) {
  operand item;
  item.address = d.scratchpad_address;
  item.row_bytes = d.row_bytes;
  item.rows = d.rows;
  item.stride = d.scratchpad_stride;
  item.planes = d.planes;
  item.plane_stride = d.scratchpad_plane_stride;
  item.written = d.header.op != gen::opcode::dma_store;
  operand_list list;
  list.add(item);
  return list;
}

operand_list gemm_operands(const gen::gemm_descriptor& d) {
  const auto with = [&](std::uint8_t mode) { return (d.header.function & mode) != 0; };
  const auto either = [](bool transposed, std::uint32_t address, std::uint32_t stride, std::uint64_t rows,
                         std::uint64_t columns, std::uint32_t bytes) {
    return transposed ? matrix(address, stride, columns, rows, bytes) : matrix(address, stride, rows, columns, bytes);
  };
  operand_list list;
  list.add(either(with(gen::gemm_mode::transposed_x), d.x, d.x_stride, d.tokens, d.reduction, 2));
  if (d.header.tag_precision == gen::precision::bf16) {
    list.add(matrix(d.w, d.w_stride, d.vectors, d.reduction, 2));
  } else {
    list.add(packed(d.w, d.w_stride, d.vectors, d.reduction, d.header.tag_precision));
    if (!with(gen::gemm_mode::unscaled)) {
      list.add(matrix(d.scales, d.scale_stride, d.vectors, d.group == 0 ? 0 : d.reduction / d.group, 2));
    }
  }
  list.add(written(either(with(gen::gemm_mode::transposed_out), d.out, d.out_stride, d.tokens, d.vectors, 4)));
  return list;
}

// Rows that a list picks out of a larger matrix.
operand picked(operand all, std::uint64_t rows) {
  all.moved = rows * all.row_bytes;
  return all;
}

operand_list rebuild_operands(const gen::rebuild_descriptor& d) {
  const std::uint32_t rank = rank_of(d);
  const std::uint32_t limit = limit_of(d);
  operand_list list;
  if (d.header.tag_precision != gen::precision::q0) {
    list.add(packed(d.codes, d.codes_stride, d.rows, d.columns, d.header.tag_precision));
  }
  list.add(picked(matrix(d.terms, d.terms_stride, limit, rank + 1, 2), d.rows));
  if (rank != 0) list.add(matrix(d.basis, 0, 1, std::uint64_t{rank} * d.columns, 2));
  if ((d.header.function & gen::rebuild_mode::rotate) != 0) {
    list.add(picked(matrix(d.rope, dense(d.columns, 4), limit, d.columns, 4), d.rows));
  }
  list.add(matrix(d.list, 0, 1, d.rows, 4));
  list.add(written(matrix(d.d, d.d_stride, d.rows, d.columns, 2)));
  return list;
}

operand_list update_operands(const gen::update_descriptor& d) {
  operand_list list;
  list.add(matrix(d.gate, d.sums_stride, d.rows, d.columns, 4));
  list.add(matrix(d.up, d.sums_stride, d.rows, d.columns, 4));
  operand state = written(matrix(d.state, dense(d.columns, 4), d.state_rows, d.columns, 4));
  state.alignment = 2;
  state.moved = 2 * d.rows * state.row_bytes;
  list.add(state);
  if (d.list != gen::no_list) list.add(matrix(d.list, 0, 1, d.rows, 4));
  list.add(matrix(d.scales, d.scale_stride, d.rows, 1, 2));
  list.add(written(matrix(d.d, d.d_stride, d.rows, d.columns, 2)));
  return list;
}

operand_list vector_operands(const gen::vector_descriptor& d) {
  using function = gen::vector_function;
  const std::uint32_t r = d.rows;
  const std::uint32_t c = d.columns;
  const auto s0 = [&](std::uint32_t bytes) { return matrix(d.s0, d.s0_stride, r, c, bytes); };
  const auto s1 = [&](std::uint64_t rows, std::uint64_t columns, std::uint32_t bytes) {
    return matrix(d.s1, d.s1_stride, rows, columns, bytes);
  };
  const auto out = [&](std::uint32_t bytes) { return written(matrix(d.d, d.d_stride, r, c, bytes)); };
  operand_list list;
  switch (static_cast<function>(d.header.function)) {
    case function::dequantise:
      list.add(s0(1));
      list.add(s1(r, c / gen::numbers::weight_group, 2));
      list.add(out(4));
      break;
    case function::rms_norm:
      list.add(s0(4));
      list.add(s1(1, c, 4));
      list.add(out(2));
      break;
    case function::add_row:
      list.add(s0(4));
      list.add(s1(1, c, 4));
      list.add(out(4));
      break;
    case function::add:
      list.add(s0(4));
      list.add(s1(r, c, 4));
      list.add(out(4));
      break;
    case function::rope_interleaved:
    case function::rope_halves:
      list.add(s0(4));
      list.add(s1(r, d.scalar_int, 4));
      list.add(out(2));
      break;
    case function::silu_multiply:
      list.add(s0(4));
      list.add(s1(r, c, 4));
      list.add(out(2));
      break;
    case function::softmax:
    case function::to_bf16:
      list.add(s0(4));
      list.add(out(2));
      break;
    case function::transpose_to_bf16:
      list.add(s0(4));
      list.add(written(matrix(d.d, d.d_stride, c, r, 2)));
      break;
    case function::encode:
      list.add(s0(4));
      if (d.scalar_int != 0) list.add(s1(r, c, 4));
      list.add(out(1));
      list.add(written(matrix(d.e, d.e_stride, r, 1, 2)));
      break;
    case function::difference:
      list.add(s0(2));
      list.add(s1(r, c, 2));
      list.add(out(2));
      list.add(written(matrix(d.e, 0, 1, 2, 4)));
      break;
    case function::column_max:
      list.add(s0(4));
      list.add(written(matrix(d.d, 0, 1, c, 4)));
      break;
    case function::scale_columns:
      list.add(s0(2));
      list.add(s1(1, c, 2));
      list.add(out(2));
      break;
    case function::gather_transpose:
      list.add(picked(matrix(d.s0, d.s0_stride, d.scalar_int, c, 2), r));
      list.add(matrix(d.s1, 0, 1, r, 4));
      list.add(written(matrix(d.d, d.d_stride, c, r, 2)));
      break;
    case function::transpose_codes:
      list.add(packed(d.s0, d.s0_stride, r, c, d.header.tag_precision));
      list.add(written(packed(d.d, d.d_stride, c, r, d.header.tag_precision)));
      break;
    case function::row_abs_sum:
      list.add(s0(2));
      list.add(written(matrix(d.d, d.d_stride, r, 1, 4)));
      break;
  }
  return list;
}

operand_list sample_operands(const gen::sample_descriptor& d) {
  operand_list list;
  list.add(matrix(d.logits, d.logits_stride, d.rows, d.columns, 4));
  operand state = matrix(d.state, sizeof(gen::sampling_state), d.rows, 1, sizeof(gen::sampling_state));
  state.alignment = alignof(gen::sampling_state);
  list.add(written(state));
  if ((d.header.flags & gen::descriptor_flag::last_chunk) != 0) {
    operand result = matrix(d.result, sizeof(gen::sample_record), d.rows, 1, sizeof(gen::sample_record));
    result.alignment = alignof(gen::sample_record);
    list.add(written(result));
  }
  return list;
}

}  // namespace

std::uint32_t code_bits(gen::precision precision) {
  return precision == gen::precision::q2 ? 2 : precision == gen::precision::q4 ? 4 : 8;
}

std::uint64_t packed_bytes(gen::precision precision, std::uint64_t elements) {
  return numerics::delivered_bytes(elements, code_bits(precision));
}

std::uint64_t operand::end() const {
  if (row_bytes == 0 || rows == 0 || planes == 0) return address;
  const std::uint64_t last_piece = add(multiply(rows - 1, stride), multiply(planes - 1, plane_stride));
  return add(add(address, last_piece), row_bytes);
}

operand_list operands_of(const descriptor_view& descriptor) {
  switch (descriptor.op()) {
    case gen::opcode::fence:
    case gen::opcode::stage:
      break;
    case gen::opcode::dma_load:
    case gen::opcode::dma_store:
    case gen::opcode::dma_gather:
      return dma_operands(descriptor.as<gen::dma_descriptor>());
    case gen::opcode::gemm:
      return gemm_operands(descriptor.as<gen::gemm_descriptor>());
    case gen::opcode::vector:
      return vector_operands(descriptor.as<gen::vector_descriptor>());
    case gen::opcode::rebuild:
      return rebuild_operands(descriptor.as<gen::rebuild_descriptor>());
    case gen::opcode::update:
      return update_operands(descriptor.as<gen::update_descriptor>());
    case gen::opcode::sample:
      return sample_operands(descriptor.as<gen::sample_descriptor>());
  }
  return {};
}

}  // namespace dvp::npu
