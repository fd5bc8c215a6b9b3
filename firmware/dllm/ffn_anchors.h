// The anchored feed-forward network of a run, from forward to forward: when it is computed whole and anchored, when it
// is moved from there, and by how many channels.
//
//   forward              network
//   prefill, block full  whole, from the model's tensors
//   span's first         whole, and anchored
//   span's later ones    moved; channels in an order made before the first of them
#pragma once

#include <cstdint>
#include <span>

#include "firmware/dllm/channel_budget.h"
#include "firmware/dllm/compression_space.h"
#include "firmware/kernels/forward.h"

namespace dvp::dllm {

class ffn_anchors {
 public:
  // The state's anchored network has its tensors and gets everything else; what the CPU writes of it is told to the
  // state. statistics: one per layer. Arguments outlive the run, and this object stays where it is.
  void start(const compression_request& compression, const compression_space& space, const kernels::config& model,
             const kernels::run_state& state, std::span<gen::layer_statistics> statistics);

  // A span starts: its first forward anchors.
  void begin_span() { anchored_ = false; }
  void prepare(kernels::forward_pass& pass, bool denoises);
  // The pass failed and is to be repeated: anchors may be half moved, so one that was to move them makes them anew.
  void undo(kernels::forward_pass& pass);
  void complete(const kernels::forward_pass& pass);

 private:
  void order_layers();

  const compression_space* space_ = nullptr;
  const kernels::config* model_ = nullptr;
  const kernels::run_state* state_ = nullptr;
  const kernels::anchored_ffn* network_ = nullptr;
  std::span<gen::layer_statistics> statistics_;
  channel_budget budget_;
  bool anchored_ = false;
  bool ordered_ = false;
};

}  // namespace dvp::dllm
