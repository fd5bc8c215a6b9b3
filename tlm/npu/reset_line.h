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
#include <deque>
#include <map>
#include <systemc>
#include <unordered_map>
#include <utility>
#include <vector>

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
    sc_core::wait(with_reset(event));
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
    sc_core::wait(me.turn.or_reset);
    check(before);
  }
  // After anything else that may have let time pass since `before` was pulses().
  void check(std::uint64_t before) const {
    if (pulses_ != before) throw restarted{};
  }

  // The block calls wake_up() when woken() happens.
  const sc_core::sc_event& woken() const { return woken_; }
  void wake_up() {
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    for (auto next = sleepers_.begin(); next != sleepers_.end() && next->first.first <= now; ++next) {
      next->second->notify();
    }
  }

 private:
  using order = std::pair<sc_core::sc_time, std::uint64_t>;  // when, and who began to wait first

  // Events, lists and timers are kept: making them anew for every wait takes longer than the wait. A timer of its own
  // is never moved: the kernel keeps what was moved until its old time.
  struct wake_event {
    explicit wake_event(reset_line& line) : or_reset(event) {
      or_reset |= line.event_;
      sc_core::sc_spawn_options method;
      method.spawn_method();
      method.dont_initialize();
      method.set_sensitivity(&timer);
      sc_core::sc_spawn([&line] { line.woken_.notify(sc_core::SC_ZERO_TIME); }, sc_core::sc_gen_unique_name("timer"),
                        &method);
    }
    sc_core::sc_event timer;
    sc_core::sc_event event;
    sc_core::sc_event_or_list or_reset;
  };

  // The event lives as long as this, or one takes its place.
  const sc_core::sc_event_or_list& with_reset(const sc_core::sc_event& event) {
    const auto known = lists_.find(&event);
    if (known != lists_.end()) return known->second;
    return lists_.emplace(&event, event).first->second |= event_;
  }
  wake_event& take_turn() {
    if (turns_.empty()) return made_.emplace_back(*this);
    wake_event& turn = *turns_.back();
    turns_.pop_back();
    return turn;
  }

  // One process that waits for a time, for as long as this lives.
  struct sleeper {
    sleeper(reset_line& on, const sc_core::sc_time& duration)
        : line(on),
          turn(on.take_turn()),
          place(on.sleepers_.emplace(order(sc_core::sc_time_stamp() + duration, on.begun_++), &turn.event).first) {
      turn.timer.notify(duration);
    }
    sleeper(const sleeper&) = delete;
    sleeper& operator=(const sleeper&) = delete;
    ~sleeper() {
      turn.timer.cancel();
      line.sleepers_.erase(place);
      line.turns_.push_back(&turn);
    }

    reset_line& line;
    wake_event& turn;
    std::map<order, sc_core::sc_event*>::iterator place;
  };

  sc_core::sc_event event_;
  sc_core::sc_event woken_;
  std::map<order, sc_core::sc_event*> sleepers_;
  std::deque<wake_event> made_;
  std::vector<wake_event*> turns_;  // of those nobody has
  std::unordered_map<const sc_core::sc_event*, sc_core::sc_event_or_list> lists_;
  std::uint64_t begun_ = 0;
  std::uint64_t pulses_ = 0;
};

}  // namespace dvp::npu
