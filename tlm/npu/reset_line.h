// How soft reset reaches processes that wait: every wait of the block goes through here, and one that a reset cuts
// short throws. A process catches `restarted` at its outermost loop, where it holds nothing, and starts over; the
// block itself clears queues, ports and counters at the reset.
#pragma once

#include <cstdint>
#include <systemc>

namespace dvp::npu {

struct restarted {};

class reset_line {
 public:
  void pulse() {
    ++pulses_;
    event_.notify();
  }
  std::uint64_t pulses() const { return pulses_; }

  void wait(const sc_core::sc_event& event) {
    const std::uint64_t before = pulses_;
    sc_core::wait(event | event_);
    check(before);
  }
  void wait(const sc_core::sc_event& one, const sc_core::sc_event& other) {
    const std::uint64_t before = pulses_;
    sc_core::wait(one | other | event_);
    check(before);
  }
  void wait(const sc_core::sc_time& duration) {
    const std::uint64_t before = pulses_;
    sc_core::wait(duration, event_);
    check(before);
  }
  // After anything else that may have let time pass since `before` was pulses().
  void check(std::uint64_t before) const {
    if (pulses_ != before) throw restarted{};
  }

 private:
  sc_core::sc_event event_;
  std::uint64_t pulses_ = 0;
};

}  // namespace dvp::npu
