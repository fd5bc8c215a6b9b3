#include "firmware/dllm/ffn_anchors.h"

#include <algorithm>
#include <numeric>

#include "firmware/dllm/channel_order.h"
#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::purpose;
using kernels::ffn_pass;

}  // namespace

void ffn_anchors::start(const compression_request& compression, const compression_space& space,
                        const kernels::config& model, const kernels::run_state& state,
                        std::span<gen::layer_statistics> statistics) {
  space_ = &space;
  model_ = &model;
  state_ = &state;
  kernels::anchored_ffn& network = *state.anchors;
  network_ = &network;
  statistics_ = statistics;
  anchored_ = false;
  const gen::compression_record& r = compression.record;
  budget_.start({.touch_gain = r.touch_gain,
                 .touch_q8 = r.touch_q8,
                 .touch_q4 = r.touch_q4,
                 .smoothing = r.smoothing,
                 .drift_gain = r.drift_gain},
                model.ffn_width);
  network.policy = &budget_;
  network.correction_rank = r.correction_rank;
  network.order = space.order;
  network.activity = space.activity;
  network.drift = space.drift;
  if (r.correction_rank != 0) {
    const auto natural = hal::objects<std::uint32_t>(channels_of(space.order, model.layers, model), model.ffn_width);
    std::iota(natural.begin(), natural.end(), 0u);
    state.cpu_wrote(channels_of(space.order, model.layers, model), natural.size_bytes());
  }
}

void ffn_anchors::prepare(kernels::forward_pass& pass, bool denoises) {
  if (!denoises) {
    pass.ffn = ffn_pass::whole;
    return;
  }
  pass.ffn = anchored_ ? ffn_pass::interior : ffn_pass::anchor;
  if (!anchored_) {
    budget_.anchor();
    ordered_ = false;
    return;
  }
  if (!ordered_) {
    order_layers();
  }
  budget_.step();
}

void ffn_anchors::undo(kernels::forward_pass& pass) {
  if (pass.ffn != ffn_pass::whole) {
    begin_span();
    prepare(pass, true);
  }
}

void ffn_anchors::complete(const kernels::forward_pass& pass) {
  anchored_ = anchored_ || pass.ffn == ffn_pass::anchor;
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    gen::layer_statistics& s = statistics_[layer];
    if (pass.ffn == ffn_pass::anchor) {
      ++s.whole_ffn;
    } else if (pass.ffn == ffn_pass::interior) {
      const channel_budget::decision& d = budget_.made(layer);
      ++s.interior_ffn;
      s.channels_q8 += d.counts.q8;
      s.channels_q4 += d.counts.q4;
      s.channels_q2 += d.counts.q2;
      s.channels_q0 += model_->ffn_width - d.counts.touched();
      s.crossings += d.crossings;
      s.drift_sum += d.drift;
      s.drift_most = std::max(s.drift_most, d.drift);
      s.budget_sum += d.budget;
    }
  }
}

void ffn_anchors::order_layers() {
  const std::uint32_t channels = model_->ffn_width;
  const tier_scratch scratch = ranking_space(*space_, channels);
  for (std::uint32_t layer = 0; layer < model_->layers; ++layer) {
    const std::uint64_t activity = channels_of(space_->activity, layer, *model_);
    const std::uint64_t importance = network_->layers[layer].importance.data;
    const std::uint64_t order = channels_of(space_->order, layer, *model_);
    const std::uint64_t bytes = std::uint64_t{4} * channels;
    order_channels(hal::objects<float>(activity, channels), hal::objects<float>(importance, channels), scratch.keys,
                   scratch.spare, hal::objects<std::uint32_t>(order, channels));
    hal::spend(hal::work::rank, channels, activity, bytes, false, purpose::ffn_state);
    hal::spend(hal::work::copy, 0, importance, bytes, false, purpose::ffn_state);
    hal::spend(hal::work::copy, bytes, order, bytes, true, purpose::ffn_state);
    hal::feed_watchdog();
  }
  state_->cpu_wrote(space_->order, channels_of(space_->order, model_->layers, *model_) - space_->order);
  ordered_ = true;
}

}  // namespace dvp::dllm
