// Decisions of a decode on their way into a trajectory and out of one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tlm/npu/decisions.h"

namespace dvp::platform {

// Of one answer: the words of every descriptor that decided something, by kind, in the order they were made.
struct decision_log {
  std::array<std::vector<std::vector<std::uint32_t>>, npu::decisions> by_kind;

  std::vector<std::vector<std::uint32_t>>& of(npu::decision kind) { return by_kind[static_cast<std::size_t>(kind)]; }
  const std::vector<std::vector<std::uint32_t>>& of(npu::decision kind) const {
    return by_kind[static_cast<std::size_t>(kind)];
  }
  bool empty() const {
    for (const auto& each : by_kind) {
      if (!each.empty()) return false;
    }
    return true;
  }
};

// The NPU's port, told which answer is being made.
class decision_feed : public npu::decision_port {
 public:
  // Answer number `index` begins.
  virtual void begin(std::size_t index) = 0;
  // What was recorded since; nothing when nothing is recorded.
  virtual decision_log take() { return {}; }
};

// Real data: keeps what was decided.
class decision_recorder : public decision_feed {
 public:
  void begin(std::size_t) override { log_ = {}; }
  decision_log take() override { return std::move(log_); }
  void made(npu::decision kind, std::span<const std::uint32_t> words) override {
    log_.of(kind).emplace_back(words.begin(), words.end());
  }
  void give(npu::decision, std::uint32_t, std::span<std::uint32_t>) override {}

 private:
  decision_log log_;
};

}  // namespace dvp::platform
