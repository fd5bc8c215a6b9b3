// Short ways to write descriptors in tests. Everything not named is 0.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "dvp_gen/descriptor.h"

namespace dvp::npu::test {

using waits = std::initializer_list<std::uint16_t>;

template <typename Record>
Record with(Record record, std::uint8_t flags, waits distances = {}) {
  record.header.flags |= flags;
  std::size_t i = 0;
  for (const std::uint16_t distance : distances) record.header.wait[i++] = distance;
  return record;
}

template <typename Record>
Record after(waits distances, Record record) {
  return with(record, 0, distances);
}

inline gen::vector_descriptor fence(std::uint8_t flags = 0, waits distances = {}) {
  gen::vector_descriptor d;
  d.header.op = gen::opcode::fence;
  return with(d, flags, distances);
}

// `bytes` in one piece.
inline gen::dma_descriptor dma(gen::opcode op, std::uint64_t dram, std::uint32_t scratchpad, std::uint32_t bytes) {
  gen::dma_descriptor d;
  d.header.op = op;
  d.header.tag_precision = gen::precision::raw;
  d.dram_address = dram;
  d.scratchpad_address = scratchpad;
  d.row_bytes = bytes;
  d.rows = 1;
  d.planes = 1;
  return d;
}
inline gen::dma_descriptor load(std::uint64_t dram, std::uint32_t scratchpad, std::uint32_t bytes) {
  return dma(gen::opcode::dma_load, dram, scratchpad, bytes);
}
inline gen::dma_descriptor store(std::uint64_t dram, std::uint32_t scratchpad, std::uint32_t bytes) {
  return dma(gen::opcode::dma_store, dram, scratchpad, bytes);
}

inline gen::dma_descriptor stage(std::uint64_t destination, std::uint64_t source, std::uint32_t bytes) {
  gen::dma_descriptor d = dma(gen::opcode::stage, destination, 0, bytes);
  d.list_address = source;
  return d;
}

// Dense fp32 or bf16 rows: strides follow from the columns and the functions' element sizes given.
struct placed {
  std::uint32_t address, stride;
};
inline gen::vector_descriptor vector(gen::vector_function function, std::uint32_t rows, std::uint32_t columns,
                                     placed s0, placed s1, placed d) {
  gen::vector_descriptor v;
  v.header.op = gen::opcode::vector;
  v.header.function = static_cast<std::uint8_t>(function);
  v.rows = rows;
  v.columns = columns;
  v.s0 = s0.address;
  v.s0_stride = s0.stride;
  v.s1 = s1.address;
  v.s1_stride = s1.stride;
  v.d = d.address;
  v.d_stride = d.stride;
  return v;
}

struct gemm_shape {
  std::uint32_t tokens, vectors, reduction, group;
};
inline gen::gemm_descriptor gemm(gen::precision format, gemm_shape shape, placed x, placed w, placed scales,
                                 placed out) {
  gen::gemm_descriptor g;
  g.header.op = gen::opcode::gemm;
  g.header.tag_precision = format;
  g.tokens = shape.tokens;
  g.vectors = shape.vectors;
  g.reduction = shape.reduction;
  g.group = shape.group;
  g.x = x.address;
  g.x_stride = x.stride;
  g.w = w.address;
  g.w_stride = w.stride;
  g.scales = scales.address;
  g.scale_stride = scales.stride;
  g.out = out.address;
  g.out_stride = out.stride;
  return g;
}

inline gen::sample_descriptor sample(std::uint32_t rows, std::uint32_t columns, placed logits, std::uint32_t state,
                                     std::uint32_t result, std::uint8_t flags) {
  gen::sample_descriptor s;
  s.header.op = gen::opcode::sample;
  s.header.flags = flags;
  s.rows = rows;
  s.columns = columns;
  s.logits = logits.address;
  s.logits_stride = logits.stride;
  s.state = state;
  s.result = result;
  s.suppressed_token = gen::no_token;
  return s;
}

}  // namespace dvp::npu::test
