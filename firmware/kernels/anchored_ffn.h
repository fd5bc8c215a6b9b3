// The feed-forward network, moved from an anchor instead of computed anew (DAT-FFN).
//
// At an anchor forward every channel is computed at q8 from the tensor ffn_channels; input X_a, sums G and U and output
// Y_a of every layer stay in the scratchpad. An interior forward asks how far the input moved, is told how many
// channels to touch, and works on the first of them in the layer's order:
//   q8   G, U from X and 8-bit codes
//   q4   G, U moved by the 4-bit view times (X - X_a), and by its low-rank correction
//   q2   the same with the 2-bit view and both corrections, of down with q2's alone
// The output moves by the channel's column of down, at the same precision, times the change of its activation. All
// other channels are carried: nothing of them is read. Then X is the new anchor of the input, Y of the output. When all
// channels are recomputed at q8 the output is summed from 0: the same bits as an anchor forward that sums the channels
// in the layer's order. When the input did not move nothing is touched.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/kernels/model.h"

namespace dvp::kernels {

// A layer's tensors in main memory; see tensor_kind in dvp_gen/image.h.
struct channel_weights {
  tensor channels;    // [ffn_width][3 * width] codes, scales [ffn_width][3][scale slots]
  tensor importance;  // [1][ffn_width] fp32
  tensor views;       // [1][2] words
  // [2 k][width], [ffn_width][3 k], [width][k] bf16; rows 0: there is no correction
  tensor correction_q4_inputs, correction_q4_channels, correction_q4_outputs;
  tensor correction_q2_inputs, correction_q2_channels, correction_q2_outputs;
};

// Channels to touch, from the front of the order on: first q8, then q4, then q2.
struct channel_counts {
  std::uint32_t q8 = 0;
  std::uint32_t q4 = 0;
  std::uint32_t q2 = 0;

  std::uint32_t touched() const { return q8 + q4 + q2; }
};

// Decides during an interior forward, layer after layer.
class channel_policy {
 public:
  // moved: sum of squares of X - X_a, anchored: of X_a, over the rows in work. The answer touches at most ffn_width
  // channels, else the pass fails with bad_argument; when moved is 0 it is not used.
  virtual channel_counts decide(std::uint32_t layer, float moved, float anchored) = 0;

 protected:
  ~channel_policy() = default;
};

enum class ffn_pass : std::uint8_t {
  whole,     // from the model's tensors, no anchor
  anchor,    // whole from ffn_channels, and anchored
  interior,  // moved from the anchor
};

struct anchored_ffn {
  std::array<channel_weights, most_layers> layers{};
  channel_policy* policy = nullptr;
  std::uint32_t correction_rank = 0;
  std::uint8_t q4_view(std::uint32_t layer) const { return static_cast<std::uint8_t>(1 + 2 * layer); }
  std::uint8_t q2_view(std::uint32_t layer) const { return static_cast<std::uint8_t>(2 + 2 * layer); }
  // Of the views: codes stand for their midpoints.
  std::array<bool, most_layers> half_step_q4{};
  std::array<bool, most_layers> half_step_q2{};
  // u32 [layers][ffn_width]: every channel once, most important first; the CPU writes it between an anchor forward and
  // the next interior one. With corrections one row more: 0, 1, 2, ...
  std::uint64_t order = 0;
  // fp32 [layers][ffn_width]: sum over the rows of |activation * scale of down|; an anchor forward leaves it.
  std::uint64_t activity = 0;
  // fp32 [layers][2]: what the policy is given.
  std::uint64_t drift = 0;
};

}  // namespace dvp::kernels
