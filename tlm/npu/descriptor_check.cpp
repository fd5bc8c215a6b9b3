#include "tlm/npu/descriptor_check.h"

#include <cmath>
#include <limits>

#include "dvp_gen/numbers.h"
#include "tlm/npu/npu_config.h"
#include "tlm/npu/operands.h"

namespace dvp::npu {
namespace {

using gen::npu::error_code;

std::uint32_t parity(const descriptor_view& descriptor) {
  std::byte all{0};
  for (const std::byte each : descriptor.bytes) all ^= each;
  return std::to_integer<std::uint32_t>(all);
}

bool exists(gen::opcode op) {
  return op <= gen::opcode::stage;
}

bool is_dma(gen::opcode op) {
  return op == gen::opcode::dma_load || op == gen::opcode::dma_store || op == gen::opcode::dma_gather;
}

std::uint8_t allowed_flags(gen::opcode op) {
  namespace flag = gen::descriptor_flag;
  constexpr std::uint8_t always = flag::interrupt | flag::record;
  if (op == gen::opcode::gemm) return always | flag::accumulate;
  if (op == gen::opcode::sample) return always | flag::first_chunk | flag::last_chunk;
  return always;
}

bool header_fits(const gen::descriptor_header& header) {
  if ((header.flags & ~allowed_flags(header.op)) != 0) return false;
  return header.tag_precision <= gen::precision::raw && header.bytes_purpose <= gen::purpose::commands;
}

// True when first + (rows - 1) * stride + (planes - 1) * plane_stride + bytes needs more than 64 bits.
bool wraps(std::uint64_t first, std::uint64_t rows, std::uint64_t stride, std::uint64_t planes,
           std::uint64_t plane_stride, std::uint64_t bytes) {
  std::uint64_t row_reach = 0;
  std::uint64_t plane_reach = 0;
  std::uint64_t end = first;
  return __builtin_mul_overflow(rows - 1, stride, &row_reach) ||
         __builtin_mul_overflow(planes - 1, plane_stride, &plane_reach) ||
         __builtin_add_overflow(end, row_reach, &end) || __builtin_add_overflow(end, plane_reach, &end) ||
         __builtin_add_overflow(end, bytes, &end);
}

bool dma_fits(const gen::dma_descriptor& d, const check_limits& limits) {
  // What a q4 or q2 read delivers is not what is stored; no memory behind the port converts yet.
  if (d.header.tag_precision == gen::precision::q4 || d.header.tag_precision == gen::precision::q2) return false;
  if (d.row_bytes == 0 || d.rows == 0 || d.planes == 0) return false;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(std::uint64_t{d.rows} * d.planes, std::uint64_t{d.row_bytes}, &bytes)) return false;
  if (bytes > limits.scratchpad_bytes) return false;
  if (d.header.op != gen::opcode::dma_gather) {
    return !wraps(d.dram_address, d.rows, d.dram_stride, d.planes, d.dram_plane_stride, d.row_bytes);
  }
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 32;
  return d.planes == 1 && d.list_address % 4 == 0 && !wraps(d.list_address, d.rows, 4, 1, 0, 4) &&
         !wraps(d.dram_address, most_rows, d.dram_stride, 1, 0, d.row_bytes);
}

// One piece of memory to another, which has no part of it.
bool stage_fits(const gen::dma_descriptor& d) {
  if (d.header.tag_precision == gen::precision::q4 || d.header.tag_precision == gen::precision::q2) return false;
  if (d.row_bytes == 0 || d.rows != 1 || d.planes != 1) return false;
  if (d.scratchpad_address != 0 || d.dram_stride != 0 || d.scratchpad_stride != 0) return false;
  if (d.dram_plane_stride != 0 || d.scratchpad_plane_stride != 0) return false;
  return !wraps(d.dram_address, 1, 0, 1, 0, d.row_bytes) && !wraps(d.list_address, 1, 0, 1, 0, d.row_bytes);
}

bool gemm_fits(const gen::gemm_descriptor& d, const check_limits& limits) {
  if (d.tokens == 0 || d.vectors == 0 || d.vectors > limits.accumulator_vectors || d.reduction == 0) return false;
  if (d.header.tag_precision == gen::precision::bf16) return d.group == d.reduction;
  return d.header.tag_precision == gen::precision::q8 && d.group != 0 && d.reduction % d.group == 0 &&
         d.reduction / d.group <= gen::gemm_most_groups;
}

bool vector_fits(const gen::vector_descriptor& d) {
  if (d.rows == 0 || d.columns == 0) return false;
  switch (d.header.function) {
    case gen::vector_function::dequantise:
      return d.columns % gen::numbers::weight_group == 0;
    case gen::vector_function::rope_interleaved:
    case gen::vector_function::rope_halves:
      return d.scalar_int != 0 && d.scalar_int % 2 == 0 && d.columns % d.scalar_int == 0;
    default:
      return true;
  }
}

bool sample_fits(const gen::sample_descriptor& d) {
  if (d.rows == 0 || d.columns == 0) return false;
  if (!std::isfinite(d.temperature) || d.temperature < 0) return false;
  // The largest id is no_token, which names no token.
  return std::uint64_t{d.first_token} + d.columns <= gen::no_token;
}

bool shape_fits(const descriptor_view& descriptor, const check_limits& limits) {
  switch (descriptor.op()) {
    case gen::opcode::fence:
      return true;
    case gen::opcode::dma_load:
    case gen::opcode::dma_store:
    case gen::opcode::dma_gather:
      return dma_fits(descriptor.as<gen::dma_descriptor>(), limits);
    case gen::opcode::gemm:
      return gemm_fits(descriptor.as<gen::gemm_descriptor>(), limits);
    case gen::opcode::vector:
      return vector_fits(descriptor.as<gen::vector_descriptor>());
    case gen::opcode::sample:
      return sample_fits(descriptor.as<gen::sample_descriptor>());
    case gen::opcode::stage:
      return stage_fits(descriptor.as<gen::dma_descriptor>());
  }
  return false;
}

bool is_placed_well(const operand& item) {
  if (item.address % item.alignment != 0) return false;
  if (item.rows == 1) return true;
  return item.stride % item.alignment == 0 && (!item.written || item.stride >= item.row_bytes);
}

}  // namespace

error_code check(const descriptor_view& descriptor, std::uint64_t index, const check_limits& limits) {
  const gen::descriptor_header header = descriptor.header();
  if (limits.with_check_byte && parity(descriptor) != gen::descriptor_parity) return error_code::bad_check;
  if (!exists(header.op)) return error_code::bad_opcode;
  if (header.op == gen::opcode::vector && static_cast<std::size_t>(header.function) >= vector_functions) {
    return error_code::bad_opcode;
  }
  for (const std::uint16_t distance : header.wait) {
    if (distance > index) return error_code::bad_dependency;
  }
  if (!limits.with_check_byte && header.check != 0) return error_code::bad_operand;
  if (!header_fits(header) || !shape_fits(descriptor, limits)) return error_code::bad_operand;
  const operand_list operands = operands_of(descriptor);
  // A DMA may lay planes and rows into each other in any order; the others write plain matrices.
  for (const operand& item : operands) {
    if (!is_dma(header.op) && !is_placed_well(item)) return error_code::bad_operand;
  }
  for (const operand& item : operands) {
    if (item.end() > limits.scratchpad_bytes) return error_code::scratchpad_range;
  }
  return error_code::none;
}

}  // namespace dvp::npu
