// How a DMA descriptor is cut into contiguous pieces and bursts. Pure address arithmetic.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

// Calls visit(dram_address, scratchpad_address, bytes) for every contiguous piece of a load or store in order of plane
// and row. Rows without gaps on both sides are one piece, planes without gaps likewise. Stops when visit gives false.
template <typename Visit>
void for_each_segment(const gen::dma_descriptor& d, Visit visit) {
  std::uint64_t bytes = d.row_bytes;
  std::uint32_t rows = d.rows;
  std::uint32_t planes = d.planes;
  if (rows == 1 || (d.dram_stride == d.row_bytes && d.scratchpad_stride == d.row_bytes)) {
    bytes *= rows;
    rows = 1;
    if (planes == 1 || (d.dram_plane_stride == bytes && d.scratchpad_plane_stride == bytes)) {
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

// Bytes of the burst that starts at `position` with `left` bytes to go: it ends where the piece or a multiple of
// `largest`, a power of two, does. Position is the DRAM address; in a gathered row it is the distance from the row's
// start, so that the number of bursts does not depend on which rows the list names.
constexpr std::uint64_t burst_bytes(std::uint64_t position, std::uint64_t left, std::uint64_t largest) {
  return std::min(left, largest - position % largest);
}

}  // namespace dvp::npu
