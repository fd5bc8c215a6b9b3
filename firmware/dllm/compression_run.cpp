#include "firmware/dllm/compression_run.h"

#include <algorithm>

namespace dvp::dllm {

void compression_run::start(const compression_request& compression, const compression_space& space,
                            const kernels::config& model, std::uint32_t length, std::uint32_t block_length,
                            kernels::run_state& state) {
  compression_ = &compression;
  statistics_ = {};
  if (compression.stores()) {
    prefix_.start(compression, space, model, length, block_length, state, statistics_);
  }
  if (compression.anchors()) {
    network_.start(compression, space, model, state, statistics_);
  }
}

void compression_run::begin(gen::compression_span part) {
  if (starts(part, compression_->record.map_span)) {
    prefix_.begin_span();
  }
  if (starts(part, compression_->record.anchor_span)) {
    network_.begin_span();
  }
}

void compression_run::prepare(kernels::forward_pass& pass, bool denoises) {
  if (compression_->stores()) {
    prefix_.prepare(pass, denoises);
  }
  if (compression_->anchors()) {
    network_.prepare(pass, denoises);
  }
}

void compression_run::undo(kernels::forward_pass& pass) {
  if (compression_->stores()) {
    prefix_.undo(pass);
  }
  if (compression_->anchors()) {
    network_.undo(pass);
  }
}

void compression_run::complete(const kernels::forward_pass& pass) {
  if (compression_->stores()) {
    prefix_.complete(pass);
  }
  if (compression_->anchors()) {
    network_.complete(pass);
  }
}

gen::prefix_reading compression_run::reading() const {
  return compression_->stores() ? prefix_.reading() : gen::prefix_reading::whole;
}

void compression_run::report() const {
  std::copy_n(statistics_.begin(), std::min(compression_->statistics.size(), statistics_.size()),
              compression_->statistics.begin());
}

}  // namespace dvp::dllm
