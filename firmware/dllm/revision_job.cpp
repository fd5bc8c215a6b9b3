#include "firmware/dllm/revision_job.h"

#include <algorithm>

#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

constexpr std::uint32_t revision_hart = 1;
// Of a job, which feeds the watch-dog once per panel of a product. The request's own time is about the NPU.
constexpr std::uint32_t longest_silence_us = 10'000'000;

}  // namespace

revision_job::revision_job(session& s, const work_layout& work)
    : s_(s),
      model_(s.model()),
      space_(work.cpu_workspace),
      shadow_{.address = work.shadow_kv, .capacity = s.state().cache.capacity},
      most_(s.request().revisions),
      keys_(static_cast<std::uint32_t>(sequence_length(s.request()))) {}

void revision_job::replaced(const window& rows) {
  secured_first_ = secured_end_ = 0;
  if (stale_first_ == stale_end_) {
    stale_first_ = rows.first;
    stale_end_ = rows.first + rows.rows;
  }
  stale_first_ = std::min(stale_first_, rows.first);
  stale_end_ = std::max(stale_end_, rows.first + rows.rows);
}

void revision_job::secure(const window& rows) {
  secured_first_ = std::max(stale_first_, rows.first);
  secured_end_ = std::max(secured_first_, std::min(stale_end_, rows.first + rows.rows));
  copy_to_shadow(secured_first_, secured_end_);
}

void revision_job::update_shadow() {
  if (secured_first_ == secured_end_) {
    copy_to_shadow(stale_first_, stale_end_);
  } else {
    copy_to_shadow(stale_first_, secured_first_);
    copy_to_shadow(secured_end_, stale_end_);
  }
  stale_first_ = stale_end_ = secured_first_ = secured_end_ = 0;
}

void revision_job::copy_to_shadow(std::uint32_t first, std::uint32_t end) {
  const std::uint32_t count = end - first;
  if (count == 0) {
    return;
  }
  const bool copies = hal::has_data();
  const kernels::kv_cache& from = s_.state().cache;
  const auto copy = [copies](std::uint64_t source, std::uint64_t target, std::uint64_t bytes) {
    if (!copies) {
      return;
    }
    const auto* begin = static_cast<const std::byte*>(hal::memory(source, bytes));
    std::copy_n(begin, bytes, static_cast<std::byte*>(hal::memory(target, bytes)));
  };
  const std::uint64_t key_bytes = kernels::kv_cache::element_bytes * model_.head_length * count;
  const std::uint64_t value_bytes = kernels::kv_cache::element_bytes * count;
  const std::uint64_t bytes = value_bytes * model_.kv_width();
  const std::uint64_t moved = bytes + from.touched_values(model_, first, count);
  for (std::uint32_t layer = 0; layer < model_.layers; ++layer) {
    for (std::uint32_t head = 0; head < model_.kv_heads; ++head) {
      copy(from.keys(model_, layer, head, first), shadow_.keys(model_, layer, head, first), key_bytes);
    }
    for (std::uint32_t feature = 0; feature < model_.kv_width(); ++feature) {
      copy(from.values(model_, layer, feature, first), shadow_.values(model_, layer, feature, first), value_bytes);
    }
    hal::spend(hal::work::copy, 2 * bytes, from.keys(model_, layer, 0, first), moved, false, gen::purpose::prefix_kv);
    hal::spend(hal::work::copy, 0, shadow_.keys(model_, layer, 0, first), moved, true, gen::purpose::step_kv);
  }
}

// The rows of pass 1: every position with the mask, and before it the row that predicts it when that is another one.
void revision_job::list_masked(std::span<const revision_entry> entries) {
  const std::uint32_t prompt = s_.request().prompt_tokens;
  const auto token_at = [&](std::uint32_t position) {
    if (position < prompt) {
      return s_.tokens()[position];
    }
    const revision_entry& e = entries[position - prompt];
    return e.state == visibility_state::invisible ? model_.mask_token : e.token;
  };
  rows_ = 0;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint32_t position = prompt + transactions_[i].position;
    const bool listed = rows_ != 0 && positions_[rows_ - 1] + 1 == position;
    if (model_.shift_logits && !listed) {
      positions_[rows_] = position - 1;
      tokens_[rows_++] = token_at(position - 1);
    }
    asked_[i] = model_.shift_logits ? rows_ - 1 : rows_;
    positions_[rows_] = position;
    tokens_[rows_++] = model_.mask_token;
  }
}

void revision_job::start(std::uint32_t count, std::span<const revision_entry> entries) {
  std::sort(transactions_.begin(), transactions_.begin() + count,
            [](const revision_transaction& a, const revision_transaction& b) { return a.position < b.position; });
  count_ = count;
  good_ = true;
  rule_ = s_.next_rule(true);
  update_shadow();
  list_masked(entries);
  const auto job = [](void* self) {
    auto& it = *static_cast<revision_job*>(self);
    hal::start_watchdog(longest_silence_us);
    it.work();
    hal::start_watchdog(0);
  };
  alone_ = alone_ || !hal::start_hart(revision_hart, job, this);
  place_ = alone_ ? place::here : place::other_hart;
}

void revision_job::run() {
  if (place_ == place::here) {
    work();
    place_ = place::nowhere;
  }
}

bool revision_job::done() const {
  return place_ == place::nowhere || (place_ == place::other_hart && hal::hart_idle(revision_hart));
}

void revision_job::wait() {
  if (place_ == place::nowhere) {
    return;
  }
  const std::uint64_t begin = hal::now_ns();
  run();
  if (place_ == place::other_hart) {
    hal::wait_for_hart(revision_hart);
    place_ = place::nowhere;
  }
  s_.result().revision_wait_ns += hal::now_ns() - begin;
}

void revision_job::finish() {
  s_.result().revision_rows += rows_ + refreshed_;
  place_ = place::nowhere;
  count_ = 0;
}

void revision_job::work() {
  predict();
  refreshed_ = layers_ = 0;
  for (std::uint32_t i = 0; i < count_ && good_; ++i) {
    const revision_transaction& t = transactions_[i];
    if (t.layers != 0) {
      refreshed_positions_[refreshed_] = positions_[asked_[i]] + (model_.shift_logits ? 1 : 0);
      refreshed_tokens_[refreshed_++] = t.token;
      layers_ = std::max(layers_, t.first_layer + t.layers);
    }
  }
  if (refreshed_ != 0) {
    kernels::compute_rows(model_, s_.weights(), shadow_, space_, refreshed_rows(), {});
  }
}

void revision_job::predict() {
  const kernels::cpu_rows rows{.positions = std::span(positions_).first(rows_),
                               .tokens = std::span(tokens_).first(rows_),
                               .keys = keys_,
                               .layers = model_.layers,
                               .logits_first = asked_[0],
                               .logits_rows = asked_[count_ - 1] + 1 - asked_[0],
                               .rule = rule_};
  samples_ = {};
  for (std::uint32_t i = 0; i < count_; ++i) {
    samples_[asked_[i] - asked_[0]] = {transactions_[i].token, transactions_[i].confidence};
  }
  kernels::compute_rows(model_, s_.weights(), shadow_, space_, rows, samples_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    const gen::sample_record& sample = samples_[asked_[i] - asked_[0]];
    good_ = good_ && sample.token < model_.vocabulary;
    transactions_[i].token = sample.token;
    transactions_[i].confidence = sample.confidence;
  }
}

kernels::cpu_rows revision_job::refreshed_rows() const {
  return {.positions = std::span(refreshed_positions_).first(refreshed_),
          .tokens = std::span(refreshed_tokens_).first(refreshed_),
          .keys = keys_,
          .layers = layers_,
          .rule = {}};
}

void revision_job::store(const revision_transaction& t) {
  const auto positions = std::span(refreshed_positions_).first(refreshed_);
  const auto found = std::find(positions.begin(), positions.end(), s_.request().prompt_tokens + t.position);
  const std::uint32_t chosen[] = {static_cast<std::uint32_t>(found - positions.begin())};
  for (const kernels::kv_cache& to : {s_.state().cache, shadow_}) {
    kernels::store_rows(model_, space_, refreshed_rows(), chosen, t.first_layer, t.layers, to);
  }
  s_.state().cpu_wrote(s_.state().cache.address, s_.state().cache.bytes(model_));
}

}  // namespace dvp::dllm
