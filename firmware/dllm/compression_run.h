// Compression over a run of loop 3: the session asks before every forward what it is to do, and tells when it is done.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/dllm/ffn_anchors.h"
#include "firmware/dllm/prefix_tiers.h"
#include "firmware/kernels/forward.h"

namespace dvp::dllm {

// Spans that a part of the decode starts: a block starts both kinds.
constexpr bool starts(gen::compression_span part, gen::compression_span span) {
  return part == gen::compression_span::block || part == span;
}

class compression_run {
 public:
  // For a sequence of `length` positions in blocks of block_length; state's cache and anchors, where there are any, are
  // those of decode_memory. Arguments outlive the run.
  void start(const compression_request& compression, const compression_space& space, const kernels::config& model,
             std::uint32_t length, std::uint32_t block_length, kernels::run_state& state);

  // The next forward is the first that denoises a block or a sub-block.
  void begin(gen::compression_span part);
  // Completes the pass; denoises: else it stores its rows, which are a full block. The pass then reads the prefix
  // before its first row.
  void prepare(kernels::forward_pass& pass, bool denoises);
  // The pass failed: completes it for another try. The NPU is idle.
  void undo(kernels::forward_pass& pass);
  void complete(const kernels::forward_pass& pass);

  // What the pass prepared last does; of one that denoises.
  gen::prefix_reading reading() const;

  // Writes the statistics where the request wants them.
  void report() const;

 private:
  const compression_request* compression_ = nullptr;
  std::array<gen::layer_statistics, kernels::most_layers> statistics_{};
  prefix_tiers prefix_;
  ffn_anchors network_;
};

}  // namespace dvp::dllm
