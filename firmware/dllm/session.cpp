#include "firmware/dllm/session.h"

#include "firmware/dllm/fnv.h"
#include "firmware/hal/hal.h"
#include "firmware/kernels/cpu_forward.h"

namespace dvp::dllm {
namespace {

using gen::progress_kind;
using gen::result_code;

result_code code_of(drivers::npu_code code) {
  switch (code) {
    case drivers::npu_code::ok:
      return result_code::ok;
    case drivers::npu_code::timeout:
      return result_code::npu_timeout;
    case drivers::npu_code::window:
      return result_code::window_error;
    case drivers::npu_code::absent:
    case drivers::npu_code::bad_argument:
    case drivers::npu_code::bad_record:
    case drivers::npu_code::stopped:
      break;
  }
  return result_code::npu_error;
}

gen::network_pass record_of(kernels::ffn_pass pass) {
  switch (pass) {
    case kernels::ffn_pass::whole:
      break;
    case kernels::ffn_pass::anchor:
      return gen::network_pass::anchor;
    case kernels::ffn_pass::interior:
      return gen::network_pass::interior;
  }
  return gen::network_pass::whole;
}

}  // namespace

session::session(const gen::request_record& request, const kernels::config& model, const kernels::weights& weights,
                 kernels::run_state& state, std::span<std::uint32_t> tokens, gen::result_record& result,
                 gen::progress_record& progress, observer& host)
    : request_(request),
      model_(model),
      weights_(weights),
      state_(state),
      tokens_(tokens),
      result_(result),
      progress_(progress),
      host_(host),
      random_(request.seed),
      samples_(hal::objects<gen::sample_record>(state.results, most_logits_rows)) {
  result_.state_hash = fnv_start;
}

block session::open_block(std::uint32_t first, std::uint32_t length, std::uint32_t first_mask) {
  for (std::uint32_t position = first_mask; position < first + length; ++position) {
    tokens_[position] = model_.mask_token;
  }
  return {.first = first, .length = length, .masks = positions(first_mask - first, first + length - first_mask)};
}

kernels::sampling_rule session::next_rule(bool samples) {
  const bool allow_mask = (request_.flags & gen::request_flag::allow_mask) != 0;
  return {.suppressed_token = allow_mask ? gen::no_token : model_.mask_token,
          .temperature = request_.temperature,
          .noise_key = samples && request_.temperature > 0 ? random_.next() : 0};
}

void session::begin(gen::compression_span part) {
  if (compression_ != nullptr) {
    compression_->begin(part);
  }
}

drivers::npu_code session::compute(kernels::forward_pass& pass, meanwhile* other) {
  if (request_.engine == gen::forward_engine::cpu) {
    if (other != nullptr) {
      other->run();
    }
    kernels::cpu_forward(model_, weights_, state_, pass);
    return drivers::npu_code::ok;
  }
  // A forward can be repeated: it replaces what it wrote before anything reads it.
  for (std::uint32_t left = request_.retries;; --left) {
    const std::uint32_t index = kernels::issue_forward(model_, weights_, state_, pass);
    if (other != nullptr) {
      other->run();
      other = nullptr;
    }
    const drivers::npu_code code = state_.stream.wait(index);
    result_.descriptors = earlier_descriptors_ + state_.stream.submitted();
    result_.lost_interrupts = state_.stream.lost_interrupts();
    if (code == drivers::npu_code::ok || left == 0) {
      return code;
    }
    ++result_.retried;
    recover();
    if (compression_ != nullptr) {
      compression_->undo(pass);
    }
  }
}

void session::recover() {
  hal::feed_watchdog();  // the failure was found in time; the next one has its own
  earlier_descriptors_ = result_.descriptors;
  state_.stream.restart();
  if (state_.reachable != nullptr) {
    state_.reachable->restart();
  }
}

result_code session::run_forward(const window& rows, std::uint32_t logits_first, std::uint32_t logits_rows,
                                 bool denoises, meanwhile* other) {
  kernels::forward_pass pass{.first = rows.first,
                             .rows = rows.rows,
                             .keys = rows.keys,
                             .logits_first = logits_first,
                             .logits_rows = logits_rows,
                             .rule = next_rule(logits_rows != 0)};
  if (compression_ != nullptr) {
    compression_->prepare(pass, denoises);
  }
  const drivers::npu_code code = compute(pass, other);
  if (code != drivers::npu_code::ok) {
    return code_of(code);
  }
  if (compression_ != nullptr) {
    compression_->complete(pass);
  }
  network_ = pass.ffn;
  ++result_.forwards;
  result_.rows += rows.rows;
  return result_code::ok;
}

result_code session::predict(const window& rows, const block& b, position_set candidates, position_set ahead,
                             meanwhile* other) {
  if ((candidates | ahead) == 0) {
    return run_forward(rows, 0, 0, true, other);
  }
  // With shifted logits, position p is predicted by the row before it.
  const std::uint32_t shift = model_.shift_logits ? 1 : 0;
  const std::uint32_t first = candidates != 0 ? lowest(candidates) : b.length + lowest(ahead);
  const std::uint32_t last = ahead != 0 ? b.length + highest(ahead) : highest(candidates);
  const result_code code = run_forward(rows, b.first + first - shift, last - first + 1, true, other);
  if (code != result_code::ok) {
    return code;
  }
  hal::spend(hal::work::token, count(candidates) + count(ahead));
  const bool read = read_samples(candidates, 0, first) && read_samples(ahead, b.length, first);
  return read ? result_code::ok : result_code::bad_image;
}

bool session::read_samples(position_set asked, std::uint32_t from, std::uint32_t first) {
  for (position_set rest = asked; rest != 0; rest &= rest - 1) {
    const std::uint32_t position = from + lowest(rest);
    const gen::sample_record& sample = samples_[position - first];
    if (sample.token >= model_.vocabulary) {
      return false;
    }
    confidences_[position] = sample.confidence;
    predicted_[position] = sample.token;
  }
  return true;
}

void session::write_token(std::uint32_t position, std::uint32_t token) {
  tokens_[position] = token;
  const std::uint32_t forward = result_.forwards - 1;
  result_.state_hash = fnv(fnv(fnv(result_.state_hash, forward), position), token);
}

void session::replace(std::uint32_t position, std::uint32_t token) {
  hal::spend(hal::work::commit, 1);
  write_token(position, token);
}

void session::commit(block& b, position_set chosen, std::uint32_t total, position_set edited) {
  write(b, chosen, edited);
  report(progress_kind::forward, b, count(chosen), total);
}

void session::write(block& b, position_set chosen, position_set edited) {
  hal::spend(hal::work::commit, count(chosen | edited));
  for (position_set rest = chosen | edited; rest != 0; rest &= rest - 1) {
    write_token(b.first + lowest(rest), predicted_[lowest(rest)]);
  }
  b.masks &= ~chosen;
  result_.committed += count(chosen);
  result_.edits += count(edited);
  result_.denoise_forwards += chosen != 0 ? 1 : 0;
}

result_code session::fill(const window& rows, const block& b, std::uint32_t total) {
  const result_code code = run_forward(rows, 0, 0, false);
  if (code == result_code::ok) {
    report(progress_kind::prefill, b, 0, total);
  }
  return code;
}

result_code session::fill_and_append(const window& rows, std::uint32_t block_length) {
  const std::uint32_t end = rows.first + rows.rows;
  const result_code code = run_forward(rows, end - 1, 1, false);
  if (code != result_code::ok) {
    return code;
  }
  hal::spend(hal::work::token, 1);
  if (samples_[0].token >= model_.vocabulary) {
    return result_code::bad_image;
  }
  write_token(end, samples_[0].token);
  report(progress_kind::prefill, {.first = rows.first, .length = block_length}, 1, end + 1);
  return result_code::ok;
}

void session::block_complete(const block& b, std::uint32_t total) {
  ++result_.blocks;
  report(progress_kind::block, b, 0, total);
}

std::uint32_t session::behind_end_token(std::uint32_t first, std::uint32_t last) const {
  for (std::uint32_t position = first; position < last; ++position) {
    if (tokens_[position] == model_.end_token) {
      return position + 1;
    }
  }
  return 0;
}

void session::report(progress_kind kind, const block& b, std::uint32_t committed, std::uint32_t total) {
  progress_ = {};
  progress_.kind = kind;
  progress_.forward = result_.forwards == 0 ? 0 : result_.forwards - 1;
  progress_.first = b.first;
  progress_.length = b.length;
  progress_.committed = committed;
  progress_.total_tokens = total;
  progress_.masks_left = count(b.masks);
  progress_.drafts = result_.drafts_offered - result_.drafts_accepted - result_.drafts_rejected;
  if (kind == progress_kind::forward && compression_ != nullptr) {
    progress_.prefix = compression_->reading();
    progress_.network = record_of(network_);
  }
  host_.progress();
}

}  // namespace dvp::dllm
