#include "firmware/dllm/channel_budget.h"

#include <algorithm>
#include <limits>

#include "tlm/numerics/special.h"

namespace dvp::dllm {
namespace {

// At most 1; what is no number is much, too.
float at_most_one(float x) {
  return x < 1 ? x : 1;
}

// share * whole, rounded up; share in [0, 1].
std::uint32_t part_of(float share, std::uint32_t whole) {
  const float product = share * static_cast<float>(whole);
  const std::uint32_t floor = static_cast<std::uint32_t>(product);
  return std::min(whole, floor + (static_cast<float>(floor) < product ? 1 : 0));
}

// The largest number for what moved away from nothing.
float drift_of(float moved, float anchored) {
  constexpr float most = std::numeric_limits<float>::max();
  const float ratio = moved / anchored;
  return ratio <= most ? ratio * numerics::rsqrt(ratio) : most;
}

}  // namespace

void channel_budget::start(const setting& s, std::uint32_t channels) {
  setting_ = s;
  channels_ = channels;
  anchor();
}

void channel_budget::anchor() {
  layers_.fill({.touched = channels_});
}

void channel_budget::step() {
  for (layer_state& layer : layers_) {
    layer.now = {};
  }
}

kernels::channel_counts channel_budget::decide(std::uint32_t layer, float moved, float anchored) {
  layer_state& state = layers_[layer];
  decision& now = state.now;
  now = {.made = true};
  const bool still = moved == 0;
  now.drift = still ? 0 : drift_of(moved, anchored);
  state.budget =
      setting_.smoothing * state.budget + (1 - setting_.smoothing) * at_most_one(setting_.drift_gain * now.drift);
  now.budget = state.budget;
  if (still) {
    return now.counts;
  }
  const std::uint32_t touched = part_of(at_most_one(setting_.touch_gain * state.budget), channels_);
  now.counts.q8 = part_of(setting_.touch_q8, touched);
  now.counts.q4 = std::min(touched - now.counts.q8, part_of(setting_.touch_q4, touched));
  now.counts.q2 = touched - now.counts.q8 - now.counts.q4;
  now.crossings = touched > state.touched ? touched - state.touched : 0;
  state.touched = touched;
  return now.counts;
}

}  // namespace dvp::dllm
