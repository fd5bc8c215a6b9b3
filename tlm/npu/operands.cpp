#include "tlm/npu/operands.h"

#include <limits>

#include "dvp_gen/numbers.h"

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
  const bool q8 = d.header.tag_precision == gen::precision::q8;
  operand_list list;
  list.add(matrix(d.x, d.x_stride, d.tokens, d.reduction, 2));
  list.add(matrix(d.w, d.w_stride, d.vectors, d.reduction, q8 ? 1 : 2));
  if (q8) list.add(matrix(d.scales, d.scale_stride, d.vectors, d.group == 0 ? 0 : d.reduction / d.group, 2));
  list.add(written(matrix(d.out, d.out_stride, d.tokens, d.vectors, 4)));
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
  switch (d.header.function) {
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
    case gen::opcode::sample:
      return sample_operands(descriptor.as<gen::sample_descriptor>());
  }
  return {};
}

}  // namespace dvp::npu
