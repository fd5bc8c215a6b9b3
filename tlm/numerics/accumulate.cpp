#include "tlm/numerics/accumulate.h"

#include <cstddef>

#include "tlm/numerics/clones.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/lanes.h"

namespace dvp::numerics {

namespace {

// One vector: columns [0, columns) of sum[] += scale * chain[], group after group; chains are group_stride apart.
[[gnu::always_inline]] inline void accumulate_vector(const float* chain, std::size_t group_stride, const float* scales,
                                                     std::uint32_t groups, std::uint32_t columns, float* sum) {
  std::uint32_t c = 0;
  for (; c + lane_count <= columns; c += lane_count) {
    lanes total;
    load(total, sum + c);
    for (std::uint32_t g = 0; g < groups; ++g) {
      lanes product;
      load(product, chain + g * group_stride + c);
      total = total + product * scales[g];
    }
    store_canonical(total, sum + c);
  }
  for (; c < columns; ++c) {
    float total = sum[c];
    for (std::uint32_t g = 0; g < groups; ++g) total += scales[g] * chain[g * group_stride + c];
    sum[c] = canonical(total);
  }
}

}  // namespace

DVP_VECTOR_CLONES
void scale_accumulate(const float* chains, const float* scales, std::uint32_t groups, std::uint32_t vectors,
                      std::uint32_t columns, float* accumulator) {
  const std::size_t group_stride = static_cast<std::size_t>(vectors) * columns;
  for (std::uint32_t v = 0; v < vectors; ++v) {
    accumulate_vector(chains, group_stride, scales, groups, columns, accumulator);
    chains += columns;
    scales += groups;
    accumulator += columns;
  }
}

}  // namespace dvp::numerics
