#include "tlm/numerics/chain_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/clones.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/register_block.h"

namespace dvp::numerics {

namespace {

// Columns widened at a time: whole blocks.
constexpr std::uint32_t tile_columns = 16;
static_assert(tile_columns % block_columns == 0);
// Reduction elements widened to binary32 at a time; bounds the stack, not the result.
constexpr std::uint32_t slice = 128;

// Code i of width `bits` in packed bytes, sign extended.
[[gnu::always_inline]] inline std::int32_t packed_code(const std::uint8_t* bytes, std::size_t i, std::uint32_t bits) {
  const std::size_t at = i * bits;
  const auto top = static_cast<std::int8_t>(bytes[at / 8] >> (at % 8) << (8 - bits));
  return top >> (8 - bits);
}

// What a q4 or q2 code stands for.
[[gnu::always_inline]] inline float code_value(std::int32_t code, std::uint32_t bits, bool half_step) {
  const std::int32_t step = 1 << (8 - bits);
  return static_cast<float>(half_step ? code * step + step / 2 : code);
}

// x[k][c] for count reduction indices from k0 and the columns of one tile; missing columns are 0.
[[gnu::always_inline]] inline void widen_stationary(const chain_operands& o, std::uint32_t k0, std::uint32_t count,
                                                    std::uint32_t c0, std::uint32_t width, float* x) {
  const std::uint16_t* source = o.stationary + static_cast<std::size_t>(k0) * o.columns + c0;
  for (std::uint32_t k = 0; k < count; ++k, source += o.columns, x += tile_columns) {
    if (width == tile_columns) {
      for (std::uint32_t c = 0; c < tile_columns; ++c) x[c] = from_bf16(source[c]);
    } else {
      for (std::uint32_t c = 0; c < tile_columns; ++c) x[c] = c < width ? from_bf16(source[c]) : 0.0f;
    }
  }
}

// w[k] for count elements of a q4 or q2 vector from k0 on; 0 for a q0 vector.
void widen_narrow(const stream_vector& vector, std::uint32_t k0, std::uint32_t count, float* w) {
  const auto* bytes = static_cast<const std::uint8_t*>(vector.elements);
  if (vector.format == stream_format::q4) {
    for (std::uint32_t k = 0; k < count; ++k) w[k] = code_value(packed_code(bytes, k0 + k, 4), 4, vector.half_step);
  } else if (vector.format == stream_format::q2) {
    for (std::uint32_t k = 0; k < count; ++k) w[k] = code_value(packed_code(bytes, k0 + k, 2), 2, vector.half_step);
  } else {
    for (std::uint32_t k = 0; k < count; ++k) w[k] = 0.0f;
  }
}

// w[v][k] for the vectors of one block; missing vectors are 0.
[[gnu::always_inline]] inline void widen_stream(const chain_operands& o, std::uint32_t v0, std::uint32_t height,
                                                std::uint32_t k0, std::uint32_t count, float* w) {
  const std::size_t pitch = o.stream_stride * element_bits(o.format) / 8;
  const std::uint8_t* uniform = static_cast<const std::uint8_t*>(o.stream) + v0 * pitch;
  for (std::uint32_t v = 0; v < block_vectors; ++v, w += slice, uniform += pitch) {
    if (v >= height) {
      for (std::uint32_t k = 0; k < count; ++k) w[k] = 0.0f;
      continue;
    }
    const stream_vector vector = o.each != nullptr ? o.each[v0 + v] : stream_vector{o.format, o.half_step, uniform};
    if (vector.format == stream_format::q8) {
      const std::int8_t* codes = static_cast<const std::int8_t*>(vector.elements) + k0;
      for (std::uint32_t k = 0; k < count; ++k) w[k] = static_cast<float>(codes[k]);
    } else if (vector.format == stream_format::bf16) {
      const std::uint16_t* codes = static_cast<const std::uint16_t*>(vector.elements) + k0;
      for (std::uint32_t k = 0; k < count; ++k) w[k] = from_bf16(codes[k]);
    } else {
      widen_narrow(vector, k0, count, w);
    }
  }
}

// One bit per vector of a block: it is there, and not q0.
[[gnu::always_inline]] inline std::uint32_t summed_vectors(const chain_operands& o, std::uint32_t v0,
                                                           std::uint32_t height) {
  std::uint32_t bits = (1U << height) - 1;
  for (std::uint32_t v = 0; o.each != nullptr && v < height; ++v) {
    if (o.each[v0 + v].format == stream_format::q0) bits &= ~(1U << v);
  }
  return bits;
}

// Where the chain of vector v starts: the caller's preset, the sums of the slice before, or null for +0.
[[gnu::always_inline]] inline const float* start_of(const chain_operands& o, std::uint32_t chain, bool first_slice,
                                                    std::uint32_t v, std::uint32_t c0, const float* out) {
  const std::size_t at = static_cast<std::size_t>(v) * o.columns + c0;
  if (!first_slice) return out + at;
  return chain == 0 && o.preset != nullptr ? o.preset + at : nullptr;
}

// One slice of one chain for the vectors of one block and some columns of a tile, at most block_columns from c0 on.
[[gnu::always_inline]] inline void run_block(const chain_operands& o, std::uint32_t chain, std::uint32_t count,
                                             bool first_slice, std::uint32_t v0, std::uint32_t summed, std::uint32_t c0,
                                             std::uint32_t width, const float* x, const float* w) {
  float* out = o.out + static_cast<std::size_t>(chain) * o.vectors * o.columns;
  alignas(64) float edge[block_columns] = {};
  column_values sums[block_vectors] = {};
#pragma GCC unroll 8
  for (std::uint32_t v = 0; v < block_vectors; ++v) {
    const float* begin = v0 + v < o.vectors ? start_of(o, chain, first_slice, v0 + v, c0, out) : nullptr;
    if (begin == nullptr) continue;
    if (width == block_columns) {
      load(sums[v], begin);
    } else {
      for (std::uint32_t c = 0; c < width; ++c) edge[c] = begin[c];
      load(sums[v], edge);
    }
  }
  for (std::uint32_t k = 0; k < count; ++k, x += tile_columns, ++w) {
    column_values tokens;
    load(tokens, x);
#pragma GCC unroll 8
    for (std::uint32_t v = 0; v < block_vectors; ++v) sums[v] = sums[v] + tokens * w[v * slice];
  }
#pragma GCC unroll 8
  for (std::uint32_t v = 0; v < block_vectors; ++v) {
    if ((summed >> v & 1) == 0) continue;
    float* end = out + static_cast<std::size_t>(v0 + v) * o.columns + c0;
    if (width == block_columns) {
      store_canonical(sums[v], end);
    } else {
      store_canonical(sums[v], edge);
      for (std::uint32_t c = 0; c < width; ++c) end[c] = edge[c];
    }
  }
}

// One slice of one chain for one column tile.
DVP_VECTOR_CLONES
void run_slice(const chain_operands& o, std::uint32_t chain, std::uint32_t k0, std::uint32_t count, bool first_slice,
               std::uint32_t c0) {
  const std::uint32_t width = std::min(tile_columns, o.columns - c0);
  alignas(64) float x[slice * tile_columns];
  alignas(64) float w[block_vectors * slice];
  widen_stationary(o, k0, count, c0, width, x);

  for (std::uint32_t v0 = 0; v0 < o.vectors; v0 += block_vectors) {
    const std::uint32_t height = std::min(block_vectors, o.vectors - v0);
    widen_stream(o, v0, height, k0, count, w);
    const std::uint32_t summed = summed_vectors(o, v0, height);
    for (std::uint32_t b = 0; b < width; b += block_columns) {
      run_block(o, chain, count, first_slice, v0, summed, c0 + b, std::min(block_columns, width - b), x + b, w);
    }
  }
}

// The sums of a q0 vector.
void pass_starts(const chain_operands& o, std::uint32_t v) {
  for (std::uint32_t chain = 0; chain < o.chains(); ++chain) {
    const std::size_t first = static_cast<std::size_t>(v) * o.columns;
    float* out = o.out + static_cast<std::size_t>(chain) * o.vectors * o.columns + first;
    for (std::uint32_t c = 0; c < o.columns; ++c) {
      out[c] = chain == 0 && o.preset != nullptr ? canonical(o.preset[first + c]) : 0.0f;
    }
  }
}

}  // namespace

std::int32_t stream_vector::stored(std::size_t k) const {
  if (format == stream_format::bf16) return static_cast<const std::uint16_t*>(elements)[k];
  return packed_code(static_cast<const std::uint8_t*>(elements), k, element_bits(format));
}

float stream_vector::value(std::size_t k) const {
  if (format == stream_format::bf16) return from_bf16(static_cast<std::uint16_t>(stored(k)));
  return code_value(stored(k), element_bits(format), half_step && format != stream_format::q8);
}

void chain_products_reference(const chain_operands& o) {
  float* out = o.out;
  for (std::uint32_t chain = 0; chain < o.chains(); ++chain) {
    for (std::uint32_t v = 0; v < o.vectors; ++v) {
      const stream_vector w = o.vector(v);
      for (std::uint32_t c = 0; c < o.columns; ++c) {
        float sum = chain == 0 && o.preset != nullptr ? o.preset[static_cast<std::size_t>(v) * o.columns + c] : 0.0f;
        for (std::uint32_t k = chain * o.group; w.format != stream_format::q0 && k < (chain + 1) * o.group; ++k) {
          const float x = from_bf16(o.stationary[static_cast<std::size_t>(k) * o.columns + c]);
          sum = add(sum, multiply(w.value(k), x));
        }
        *out++ = canonical(sum);
      }
    }
  }
}

void chain_products(const chain_operands& o) {
  for (std::uint32_t v = 0; v < o.vectors && (o.each != nullptr || o.format == stream_format::q0); ++v) {
    if (o.format_of(v) == stream_format::q0) pass_starts(o, v);
  }
  if (o.each == nullptr && o.format == stream_format::q0) return;
  for (std::uint32_t chain = 0; chain < o.chains(); ++chain) {
    for (std::uint32_t done = 0; done < o.group; done += slice) {
      const std::uint32_t count = std::min(slice, o.group - done);
      for (std::uint32_t c0 = 0; c0 < o.columns; c0 += tile_columns) {
        run_slice(o, chain, chain * o.group + done, count, done == 0, c0);
      }
    }
  }
}

}  // namespace dvp::numerics
