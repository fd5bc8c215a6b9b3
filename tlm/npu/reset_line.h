// How processes of the block wait: every wait goes through here, so that a soft reset reaches them and so that those
// who wake at one time do so in an order of our own.
//
// A wait that a reset cuts short throws. A process catches `restarted` at its outermost loop, where it holds nothing,
// and starts over; the block itself clears queues, ports and counters at the reset.
//
// The kernel triggers what is due at one time in an order that depends on everything else that waits in the simulation:
// a further timer anywhere could change who of two engines comes first. Processes that wait for a time wake one delta
// cycle after whatever else happens then (register writes, answers of the memory), in the order in which they began to
// wait.
#pragma once

#include <cstdint>
#include <map>
#include <systemc>
#include <utility>

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
    const sleeper me(*this, duration);
    sc_core::wait(me.turn | event_);
    check(before);
  }
  // After anything else that may have let time pass since `before` was pulses().
  void check(std::uint64_t before) const {
    if (pulses_ != before) throw restarted{};
  }

  // The block calls come_due() when due() happens, and wake_up() when woken() does.
  const sc_core::sc_event& due() const { return due_; }
  const sc_core::sc_event& woken() const { return woken_; }
  void come_due() { woken_.notify(sc_core::SC_ZERO_TIME); }
  void wake_up() {
    auto next = sleepers_.begin();
    for (; next != sleepers_.end() && next->first.first <= sc_core::sc_time_stamp(); ++next) next->second->notify();
    if (next != sleepers_.end()) due_.notify(next->first.first - sc_core::sc_time_stamp());
  }

 private:
  using order = std::pair<sc_core::sc_time, std::uint64_t>;  // when, and who began to wait first

  // One process that waits for a time, for as long as this lives.
  struct sleeper {
    sleeper(reset_line& on, const sc_core::sc_time& duration)
        : line(on), place(on.sleepers_.emplace(order(sc_core::sc_time_stamp() + duration, on.begun_++), &turn).first) {
      line.due_.notify(duration);
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;
    ~sleeper() { line.sleepers_.erase(place); }

    reset_line& line;
    sc_core::sc_event turn;
    std::map<order, sc_core::sc_event*>::iterator place;
  };

  sc_core::sc_event event_;
  sc_core::sc_event due_;
  sc_core::sc_event woken_;
  std::map<order, sc_core::sc_event*> sleepers_;
  std::uint64_t begun_ = 0;
  std::uint64_t pulses_ = 0;
};

}  // namespace dvp::npu
