// How many channels of a feed-forward network a step touches, layer by layer, from how far its input moved.
//
// DAT-FFN (arXiv 2609.01084), Eq. 8 and 9: drift q = |X - X_a| / |X_a|, smoothed budget b = eta b + (1 - eta) min(1,
// gamma q), b = 0 at an anchor. What the paper leaves open: a setting is three numbers,
//   touched = ceil(min(1, touch_gain b) channels)
//   q8 = ceil(touched touch_q8), q4 = ceil(touched touch_q4), at most what is left, q2 the rest
// An input that did not move touches nothing. All arithmetic is binary32; the root is x rsqrt(x) of numerics.
#pragma once

#include <array>
#include <cstdint>

#include "dvp_gen/compression.h"
#include "firmware/kernels/anchored_ffn.h"

namespace dvp::dllm {

class channel_budget final : public kernels::channel_policy {
 public:
  struct setting {
    float touch_gain = 0;
    float touch_q8 = 0;
    float touch_q4 = 0;
    float smoothing = 0;   // eta
    float drift_gain = 0;  // gamma
  };
  // What a step did in a layer.
  struct decision {
    bool made = false;
    kernels::channel_counts counts{};
    std::uint32_t crossings = 0;  // channels touched that the step before had not touched
    float drift = 0;
    float budget = 0;
  };

  void start(const setting& s, std::uint32_t channels);
  // All layers are anchored anew.
  void anchor();
  // A step begins: no decision of it is made yet.
  void step();
  kernels::channel_counts decide(std::uint32_t layer, float moved, float anchored) override;
  // Of the step since step().
  const decision& made(std::uint32_t layer) const { return layers_[layer].now; }

 private:
  struct layer_state {
    float budget = 0;
    std::uint32_t touched = 0;  // by the last step whose input moved; all at the anchor
    decision now{};
  };

  setting setting_;
  std::uint32_t channels_ = 0;
  std::array<layer_state, kernels::most_layers> layers_{};
};

}  // namespace dvp::dllm
