#include "tlm/numerics/chain_products.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/clones.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/lanes.h"

namespace dvp::numerics {

namespace {

// One register block: 8 streamed vectors by 16 columns, so eight independent chains of additions are in flight.
constexpr std::uint32_t block_vectors = 8;
constexpr std::uint32_t block_columns = lane_count;
// Reduction elements widened to binary32 at a time; bounds the stack, not the result.
constexpr std::uint32_t slice = 128;

float streamed(const chain_operands& o, std::uint32_t v, std::uint32_t k) {
  const std::size_t at = v * o.stream_stride + k;
  if (o.format == stream_format::q8) return static_cast<float>(static_cast<const std::int8_t*>(o.stream)[at]);
  return from_bf16(static_cast<const std::uint16_t*>(o.stream)[at]);
}

// x[k][c] for count reduction indices from k0 and the columns of one tile; missing columns are 0.
[[gnu::always_inline]] inline void widen_stationary(const chain_operands& o, std::uint32_t k0, std::uint32_t count,
                                                    std::uint32_t c0, std::uint32_t width, float* x) {
  const std::uint16_t* source = o.stationary + static_cast<std::size_t>(k0) * o.columns + c0;
  for (std::uint32_t k = 0; k < count; ++k, source += o.columns, x += block_columns) {
    if (width == block_columns) {
      for (std::uint32_t c = 0; c < block_columns; ++c) x[c] = from_bf16(source[c]);
    } else {
      for (std::uint32_t c = 0; c < block_columns; ++c) x[c] = c < width ? from_bf16(source[c]) : 0.0f;
    }
  }
}

// w[v][k] for the vectors of one block; missing vectors are 0.
[[gnu::always_inline]] inline void widen_stream(const chain_operands& o, std::uint32_t v0, std::uint32_t height,
                                                std::uint32_t k0, std::uint32_t count, float* w) {
  for (std::uint32_t v = 0; v < block_vectors; ++v, w += slice) {
    const std::size_t at = (v0 + v) * o.stream_stride + k0;
    if (v >= height) {
      for (std::uint32_t k = 0; k < count; ++k) w[k] = 0.0f;
    } else if (o.format == stream_format::q8) {
      const std::int8_t* codes = static_cast<const std::int8_t*>(o.stream) + at;
      for (std::uint32_t k = 0; k < count; ++k) w[k] = static_cast<float>(codes[k]);
    } else {
      const std::uint16_t* codes = static_cast<const std::uint16_t*>(o.stream) + at;
      for (std::uint32_t k = 0; k < count; ++k) w[k] = from_bf16(codes[k]);
    }
  }
}

// Where the chain of vector v starts: the caller's preset, the sums of the slice before, or null for +0.
[[gnu::always_inline]] inline const float* start_of(const chain_operands& o, std::uint32_t chain, bool first_slice,
                                                    std::uint32_t v, std::uint32_t c0, const float* out) {
  const std::size_t at = static_cast<std::size_t>(v) * o.columns + c0;
  if (!first_slice) return out + at;
  return chain == 0 && o.preset != nullptr ? o.preset + at : nullptr;
}

// One slice of one chain for one column tile.
DVP_VECTOR_CLONES
void run_slice(const chain_operands& o, std::uint32_t chain, std::uint32_t k0, std::uint32_t count, bool first_slice,
               std::uint32_t c0) {
  const std::uint32_t width = std::min(block_columns, o.columns - c0);
  float* out = o.out + static_cast<std::size_t>(chain) * o.vectors * o.columns;
  alignas(64) float x[slice * block_columns];
  alignas(64) float w[block_vectors * slice];
  alignas(64) float edge[block_columns] = {};
  widen_stationary(o, k0, count, c0, width, x);

  for (std::uint32_t v0 = 0; v0 < o.vectors; v0 += block_vectors) {
    const std::uint32_t height = std::min(block_vectors, o.vectors - v0);
    widen_stream(o, v0, height, k0, count, w);

    lanes sums[block_vectors] = {};
#pragma GCC unroll 8
    for (std::uint32_t v = 0; v < block_vectors; ++v) {
      const float* begin = v < height ? start_of(o, chain, first_slice, v0 + v, c0, out) : nullptr;
      if (begin == nullptr) continue;
      if (width == block_columns) {
        load(sums[v], begin);
      } else {
        for (std::uint32_t c = 0; c < width; ++c) edge[c] = begin[c];
        load(sums[v], edge);
      }
    }
    for (std::uint32_t k = 0; k < count; ++k) {
      lanes tokens;
      load(tokens, x + k * block_columns);
#pragma GCC unroll 8
      for (std::uint32_t v = 0; v < block_vectors; ++v) sums[v] = sums[v] + tokens * w[v * slice + k];
    }
#pragma GCC unroll 8
    for (std::uint32_t v = 0; v < block_vectors; ++v) {
      if (v >= height) continue;
      float* end = out + static_cast<std::size_t>(v0 + v) * o.columns + c0;
      if (width == block_columns) {
        store_canonical(sums[v], end);
      } else {
        store_canonical(sums[v], edge);
        for (std::uint32_t c = 0; c < width; ++c) end[c] = edge[c];
      }
    }
  }
}

}  // namespace

void chain_products_reference(const chain_operands& o) {
  float* out = o.out;
  for (std::uint32_t chain = 0; chain < o.chains(); ++chain) {
    for (std::uint32_t v = 0; v < o.vectors; ++v) {
      for (std::uint32_t c = 0; c < o.columns; ++c) {
        float sum = chain == 0 && o.preset != nullptr ? o.preset[static_cast<std::size_t>(v) * o.columns + c] : 0.0f;
        for (std::uint32_t k = chain * o.group; k < (chain + 1) * o.group; ++k) {
          const float x = from_bf16(o.stationary[static_cast<std::size_t>(k) * o.columns + c]);
          sum = add(sum, multiply(streamed(o, v, k), x));
        }
        *out++ = canonical(sum);
      }
    }
  }
}

void chain_products(const chain_operands& o) {
  for (std::uint32_t chain = 0; chain < o.chains(); ++chain) {
    for (std::uint32_t done = 0; done < o.group; done += slice) {
      const std::uint32_t count = std::min(slice, o.group - done);
      for (std::uint32_t c0 = 0; c0 < o.columns; c0 += block_columns) {
        run_slice(o, chain, chain * o.group + done, count, done == 0, c0);
      }
    }
  }
}

}  // namespace dvp::numerics
