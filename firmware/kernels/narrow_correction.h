// Low-rank corrections of the feed-forward network's narrow weights: what a view takes from gate, up and down is added
// again as products with a few vectors.
//
//   gate, up   sums of channel j += A_j (B dX):   B in correction_*_inputs, A_j in row j of correction_*_channels
//   down       output += A (b_j d_j):             b_j in the same row, A in correction_*_outputs
//
// d_j is the change of the channel's activation times the scale of down that belongs to the precision in use, so b_j is
// stored divided by that scale. B dX and the sum of b_j d_j over all channels of a tier are rounded to bf16; the output
// gets the latter at the end of the tier.
#pragma once

#include <cstdint>

#include "firmware/kernels/layer.h"

namespace dvp::kernels {

class narrow_correction {
 public:
  struct factors {
    tensor inputs;    // [2 k][width]
    tensor channels;  // [ffn_width][3 k]
    tensor outputs;   // [width][k]
  };

  // number: which of the plan's places it takes, 0 or 1. rank: how many of the k vectors are used; 0: it does nothing.
  narrow_correction(const config& model, const factors& f, std::uint32_t rank, std::uint32_t number, run_state& state,
                    const row_span& span);

  bool exists() const { return rank_ != 0; }
  // Of a channel's factors in the scratchpad.
  std::uint32_t row_bytes() const { return exists() ? factors_.channels.row_bytes : 0; }

  // Once per layer, before everything else. difference: dX, bf16 [t][width].
  void prepare(const matrix& difference);
  // Factors of the channels that the bus address `order` lists.
  void fetch(std::uint64_t order, std::uint32_t channels, const matrix& rows);
  // gate, up: fp32 [channels][t].
  void add_sums(const matrix& rows, std::uint32_t channels, const matrix& gate, const matrix& up);
  // The channels' factors of down, one vector after the other, to `turned`: bf16 [rank][channels].
  // numbers: u32 0, 1, 2, ... in the scratchpad.
  void turn(const matrix& rows, std::uint32_t channels, std::uint32_t numbers, std::uint32_t turned);
  // activation: d, bf16 [channels][t].
  void add_down(std::uint32_t turned, std::uint32_t channels, const matrix& activation);
  // The end of a tier. output: fp32 [t][width].
  void finish(const matrix& output);

 private:
  const config& model_;
  factors factors_;
  std::uint32_t rank_;
  std::uint32_t most_;  // k
  run_state& state_;
  const row_span& span_;
  matrix inputs_;     // bf16 [2 rank][width]
  matrix outputs_;    // bf16 [width][rank]
  matrix wide_;       // fp32 [t][2 rank]
  matrix projected_;  // bf16 [t][2 rank]: B dX
  matrix down_wide_;  // fp32 [t][rank]
  matrix down_;       // bf16 [t][rank]
  bool summing_ = false;
};

}  // namespace dvp::kernels
