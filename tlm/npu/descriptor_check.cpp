#include "tlm/npu/descriptor_check.h"

#include <cmath>
#include <limits>

#include "dvp_gen/numbers.h"
#include "tlm/npu/dma_segments.h"
#include "tlm/npu/npu_config.h"
#include "tlm/npu/operands.h"
#include "tlm/numerics/view_table.h"

namespace dvp::npu {
namespace {

using gen::npu::error_code;

std::uint32_t parity(const descriptor_view& descriptor) {
  std::byte all{0};
  for (const std::byte each : descriptor.bytes) all ^= each;
  return std::to_integer<std::uint32_t>(all);
}

bool exists(gen::opcode op) {
  return op <= gen::opcode::update;
}

bool is_dma(gen::opcode op) {
  return op == gen::opcode::dma_load || op == gen::opcode::dma_store || op == gen::opcode::dma_gather;
}

std::uint8_t allowed_flags(gen::opcode op) {
  namespace flag = gen::descriptor_flag;
  constexpr std::uint8_t always = flag::interrupt | flag::record;
  if (op == gen::opcode::gemm || op == gen::opcode::vector) return always | flag::accumulate;
  if (op == gen::opcode::sample) return always | flag::first_chunk | flag::last_chunk;
  return always;
}

bool is_narrow(gen::precision precision) {
  return precision == gen::precision::q4 || precision == gen::precision::q2;
}

bool is_code(gen::precision precision) {
  return precision == gen::precision::q8 || is_narrow(precision);
}

// A DMA may have one, the number of a view: see converted_fits().
bool has_function(gen::opcode op) {
  return op != gen::opcode::fence && op != gen::opcode::sample && op != gen::opcode::stage;
}

bool header_fits(const gen::descriptor_header& header) {
  if ((header.flags & ~allowed_flags(header.op)) != 0) return false;
  const gen::precision last = header.op == gen::opcode::rebuild ? gen::precision::q0 : gen::precision::raw;
  if (header.function != 0 && !has_function(header.op)) return false;
  return header.tag_precision <= last && header.bytes_purpose <= gen::purpose::corrections;
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

// Of a DMA tagged q4 or q2: it reads, by a view there can be, and every row starts where a delivered byte does.
bool converted_fits(const gen::dma_descriptor& d) {
  const std::uint64_t stored = stored_per_byte(d.header.tag_precision);
  const bool gathers = d.header.op == gen::opcode::dma_gather;
  if (d.header.op == gen::opcode::dma_store || d.header.function > numerics::view_table::count) return false;
  if (d.dram_address % stored != 0) return false;
  if ((gathers || d.rows > 1) && d.dram_stride % stored != 0) return false;
  return d.planes == 1 || d.dram_plane_stride % stored == 0;
}

bool dma_fits(const gen::dma_descriptor& d, const check_limits& limits) {
  if (d.row_bytes == 0 || d.rows == 0 || d.planes == 0) return false;
  const std::uint64_t stored = stored_per_byte(d.header.tag_precision);
  if (stored == 1 ? d.header.function != 0 : !converted_fits(d)) return false;
  const std::uint64_t row_stored = d.row_bytes * stored;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(std::uint64_t{d.rows} * d.planes, std::uint64_t{d.row_bytes}, &bytes)) return false;
  if (bytes > limits.scratchpad_bytes) return false;
  if (d.header.op != gen::opcode::dma_gather) {
    return !wraps(d.dram_address, d.rows, d.dram_stride, d.planes, d.dram_plane_stride, row_stored);
  }
  constexpr std::uint64_t most_rows = std::uint64_t{1} << 32;
  return d.planes == 1 && d.list_address % 4 == 0 && !wraps(d.list_address, d.rows, 4, 1, 0, 4) &&
         !wraps(d.dram_address, most_rows, d.dram_stride, 1, 0, row_stored);
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
  constexpr std::uint8_t modes = gen::gemm_mode::unscaled | gen::gemm_mode::half_step | gen::gemm_mode::transposed_x |
                                 gen::gemm_mode::transposed_out;
  const std::uint8_t mode = d.header.function;
  if ((mode & ~modes) != 0) return false;
  if ((mode & gen::gemm_mode::half_step) != 0 && !is_narrow(d.header.tag_precision)) return false;
  const bool unscaled = (mode & gen::gemm_mode::unscaled) != 0;
  if (d.header.tag_precision == gen::precision::bf16) return !unscaled && d.group == d.reduction;
  if (!is_code(d.header.tag_precision)) return false;
  if (unscaled) return d.group == d.reduction;
  return d.group != 0 && d.reduction % d.group == 0 && d.reduction / d.group <= gen::gemm_most_groups;
}

bool vector_fits(const gen::vector_descriptor& d) {
  if (d.rows == 0 || d.columns == 0) return false;
  using function = gen::vector_function;
  const auto which = static_cast<function>(d.header.function);
  const bool accumulates = (d.header.flags & gen::descriptor_flag::accumulate) != 0;
  if (accumulates && which != function::column_max) return false;
  if (d.e_stride != 0 && which != function::encode) return false;
  if (d.e != 0 && which != function::encode && which != function::difference) return false;
  switch (which) {
    case gen::vector_function::dequantise:
      return d.columns % gen::numbers::weight_group == 0;
    case gen::vector_function::rope_interleaved:
    case gen::vector_function::rope_halves:
      return d.scalar_int != 0 && d.scalar_int % 2 == 0 && d.columns % d.scalar_int == 0;
    case gen::vector_function::encode:
      return d.scalar_int <= 1;
    case gen::vector_function::gather_transpose:
      return d.scalar_int != 0;
    case gen::vector_function::transpose_codes:
      return is_code(d.header.tag_precision);
    default:
      return true;
  }
}

bool rebuild_fits(const gen::rebuild_descriptor& d) {
  constexpr std::uint8_t modes = gen::rebuild_mode::rotate | gen::rebuild_mode::halves | gen::rebuild_mode::half_step;
  if (d.rows == 0 || d.columns == 0 || d.columns % 2 != 0 || (d.header.function & ~modes) != 0) return false;
  if (!is_code(d.header.tag_precision) && d.header.tag_precision != gen::precision::q0) return false;
  return rank_of(d) <= gen::most_rank && limit_of(d) != 0;
}

bool update_fits(const gen::update_descriptor& d) {
  constexpr std::uint8_t modes = gen::update_mode::add_state | gen::update_mode::fresh;
  return d.rows != 0 && d.columns != 0 && d.state_rows != 0 && (d.header.function & ~modes) == 0;
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
    case gen::opcode::rebuild:
      return rebuild_fits(descriptor.as<gen::rebuild_descriptor>());
    case gen::opcode::update:
      return update_fits(descriptor.as<gen::update_descriptor>());
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
  if (header.op == gen::opcode::vector && header.function >= vector_functions) {
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
