// How a DMA descriptor is cut into contiguous pieces and bursts. Pure address arithmetic.
//
// Bytes are those that move. In DRAM a load or gather tagged q4 or q2 covers stored_per_byte() times as many.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

// Stored bytes, one per code, whose view fills a byte that moves.
constexpr std::uint64_t stored_per_byte(gen::precision tag) {
  return tag == gen::precision::q4 ? 2 : tag == gen::precision::q2 ? 4 : 1;
}

// Rows that follow one another without a gap on both sides.
constexpr bool rows_are_dense(const gen::dma_descriptor& d) {
  return d.dram_stride == d.row_bytes * stored_per_byte(d.header.tag_precision) && d.scratchpad_stride == d.row_bytes;
}

// Calls visit(dram_address, scratchpad_address, bytes) for every contiguous piece of a load or store in order of plane
// and row. Rows without gaps on both sides are one piece, planes without gaps likewise. Stops when visit gives false.
template <typename Visit>
void for_each_segment(const gen::dma_descriptor& d, Visit visit) {
  std::uint64_t bytes = d.row_bytes;
  std::uint32_t rows = d.rows;
  std::uint32_t planes = d.planes;
  if (rows == 1 || rows_are_dense(d)) {
    bytes *= rows;
    rows = 1;
    if (planes == 1 || (d.dram_plane_stride == bytes * stored_per_byte(d.header.tag_precision) &&
                        d.scratchpad_plane_stride == bytes)) {
      bytes *= planes;
      planes = 1;
    }
  }
  for (std::uint32_t p = 0; p < planes; ++p) {
    for (std::uint32_t r = 0; r < rows; ++r) {
      const std::uint64_t from_dram =
          d.dram_address + std::uint64_t{p} * d.dram_plane_stride + std::uint64_t{r} * d.dram_stride;
      const std::uint64_t from_scratchpad =
          d.scratchpad_address + std::uint64_t{p} * d.scratchpad_plane_stride + std::uint64_t{r} * d.scratchpad_stride;
      if (!visit(from_dram, from_scratchpad, bytes)) return;
    }
  }
}

// The same for a gather and its list. Rows without gaps on both sides are one piece where the list names each row after
// its neighbour before it.
template <typename Visit>
void for_each_gathered(const gen::dma_descriptor& d, std::span<const std::uint32_t> list, Visit visit) {
  const bool dense = rows_are_dense(d);
  for (std::size_t first = 0; first < list.size();) {
    std::size_t end = first + 1;
    while (dense && end < list.size() && list[end] == std::uint64_t{list[end - 1]} + 1) ++end;
    const std::uint64_t from_dram = d.dram_address + std::uint64_t{list[first]} * d.dram_stride;
    const std::uint64_t from_scratchpad = d.scratchpad_address + first * d.scratchpad_stride;
    if (!visit(from_dram, from_scratchpad, (end - first) * d.row_bytes)) return;
    first = end;
  }
}

// Bytes of the burst that starts at `position` with `left` bytes to go: it ends where the piece or a multiple of
// `largest`, a power of two, does. Position is the DRAM address divided by stored_per_byte(); in a gathered piece it is
// the distance from its start, so that the number of bursts does not depend on where the rows lie.
constexpr std::uint64_t burst_bytes(std::uint64_t position, std::uint64_t left, std::uint64_t largest) {
  return std::min(left, largest - (position & (largest - 1)));
}

}  // namespace dvp::npu
