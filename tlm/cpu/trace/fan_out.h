// Several observers where a hart takes one.
#pragma once

#include <vector>

#include "tlm/cpu/rv64/observer.h"

namespace dvp::cpu::trace {

class fan_out final : public rv64::observer {
 public:
  // Told in the order they were added; they outlive this object.
  void add(rv64::observer& watcher) { watchers_.push_back(&watcher); }
  bool empty() const { return watchers_.empty(); }

  void instruction(std::uint32_t hart, const rv64::executed_instruction& what) override {
    for (rv64::observer* watcher : watchers_) watcher->instruction(hart, what);
  }
  void trap(std::uint32_t hart, std::uint64_t cause, std::uint64_t epc, std::uint64_t value,
            std::uint64_t handler) override {
    for (rv64::observer* watcher : watchers_) watcher->trap(hart, cause, epc, value, handler);
  }

 private:
  std::vector<rv64::observer*> watchers_;
};

}  // namespace dvp::cpu::trace
