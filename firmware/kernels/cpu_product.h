// The CPU's matrix products, with the bits of the NPU's (gemm_descriptor): weights a chunk of output channels at a
// time, rows a panel at a time, so that a chunk stays in the cache while every panel uses it. The watch-dog is fed
// behind every panel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "firmware/kernels/cpu_workspace.h"

namespace dvp::kernels {

// Output channels of a chunk, and groups whose chains are kept at a time.
inline constexpr std::uint32_t product_vectors = 64;
inline constexpr std::uint32_t product_groups = 32;

// bf16 [rows][reduction] as a product takes it: panels of cpu_panel_rows rows, the last one narrower, each
// [reduction][columns] and dense.
struct panels {
  std::uint16_t* elements = nullptr;
  std::uint32_t rows = 0;
  std::uint32_t reduction = 0;

  std::uint32_t count() const { return (rows + cpu_panel_rows - 1) / cpu_panel_rows; }
  std::uint32_t columns(std::uint32_t panel) const { return std::min(cpu_panel_rows, rows - panel * cpu_panel_rows); }
  std::uint16_t* at(std::uint32_t panel) const { return elements + std::uint64_t{panel} * cpu_panel_rows * reduction; }
  // Element k of a row; element k + 1 is step(row) further on.
  std::uint16_t* at(std::uint32_t row, std::uint32_t k) const {
    const std::uint32_t panel = row / cpu_panel_rows;
    return at(panel) + std::uint64_t{k} * columns(panel) + row % cpu_panel_rows;
  }
  std::uint32_t step(std::uint32_t row) const { return columns(row / cpu_panel_rows); }
};

// Bytes of a row's elements and of its scales, without what may lie between rows.
std::uint64_t element_bytes(const tensor& t);
std::uint64_t scale_bytes(const tensor& t);

// Where the CPU sees rows [first, first + rows) of a tensor, or their scales.
const std::byte* elements_at(const tensor& t, std::uint32_t first, std::uint32_t rows = 1);
const std::byte* scales_at(const tensor& t, std::uint32_t first, std::uint32_t rows = 1);

// Output channels [first, first + count) of a weight matrix, count at most product_vectors, ready to meet panels.
class weight_chunk {
 public:
  // scales: [product_vectors][weight.columns / group], used while the chunk lives.
  weight_chunk(const tensor& weight, std::uint32_t first, float* scales);

  std::uint32_t first() const { return first_; }
  std::uint32_t count() const { return count_; }

  // sums[v][c] = sum over k of x[k][c] * w[first + v][k], of one panel. chains: [product_groups][count][columns]. Feeds
  // the watch-dog.
  void multiply(const std::uint16_t* x, std::uint32_t columns, float* chains, float* sums) const;

 private:
  bool coded_;
  std::uint32_t first_;
  std::uint32_t count_;
  std::uint32_t reduction_;
  std::uint32_t row_bytes_;
  const std::byte* data_ = nullptr;  // of channel `first`
  const float* scales_;
};

// Calls take(panel, chunk, sums) for every chunk of `weight` and every panel of x: sums [chunk.count()][columns].
template <class Take>
void for_products(const tensor& weight, const panels& x, const cpu_buffers& space, Take&& take) {
  for (std::uint32_t first = 0; first < weight.rows; first += product_vectors) {
    const weight_chunk chunk(weight, first, space.scales);
    for (std::uint32_t panel = 0; panel < x.count(); ++panel) {
      chunk.multiply(x.at(panel), x.columns(panel), space.chains, space.sums);
      take(panel, chunk, space.sums);
    }
  }
}

}  // namespace dvp::kernels
