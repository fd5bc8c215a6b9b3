// What a gemm descriptor does to the scratchpad.
//
// Tokens are cut into column tiles of at most C; a tile is one job of the array seat with all streamed vectors:
//
//     x [tokens][reduction], strided  --transposed once per tile-->  stationary [reduction][columns], dense
//     w [vectors][reduction]          --streamed in place-->         chains [groups][vectors][columns]
//     q8:    out = (accumulate ? out : +0), then for groups ascending  out = out + scale * chain
//     bf16:  one chain over the whole reduction, started from out (accumulate) or +0; the chain is out
//
// Sources are read tile by tile while out is written, so out must not overlap them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dvp_gen/descriptor.h"
#include "tlm/array/array_seat.h"
#include "tlm/array/array_timing.h"

namespace dvp::npu {

class gemm_executor {
 public:
  // columns: C of the array in the seat, which outlives this object.
  gemm_executor(array::array_seat& seat, std::uint32_t columns) : seat_(seat), columns_(columns) {}

  // Runs a descriptor that passed check() and returns the sum of the cycles of its array jobs. Buffers grow to the
  // largest shape seen and are reused. Lets exceptions of the seat through; out is then unspecified.
  std::uint64_t run(const gen::gemm_descriptor& d, std::span<std::byte> scratchpad);

  // The same cycles and jobs without any data, by array_timing.h.
  std::uint64_t time_only(const gen::gemm_descriptor& d, array::array_shape shape);

  // Array jobs so far; the next job's id.
  std::uint64_t jobs() const { return jobs_; }

 private:
  void widen_scales(const gen::gemm_descriptor& d, std::span<const std::byte> scratchpad);

  array::array_seat& seat_;
  std::uint32_t columns_;
  std::uint64_t jobs_ = 0;
  std::vector<std::uint16_t> stationary_;  // [reduction][columns of the tile]
  std::vector<float> scales_;              // [vectors][groups], binary32
  std::vector<float> chains_;              // [groups][vectors][columns of the tile]
  std::vector<float> sums_;                // [vectors][columns of the tile]
};

}  // namespace dvp::npu
