// What every engine has: a FIFO that the sequencers fill in order, a head that waits for its dependencies, a state the
// counters follow, and a track of the timeline.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <string_view>
#include <systemc>

#include "tlm/npu/command_queue.h"
#include "tlm/npu/npu_parts.h"

namespace dvp::npu {

class engine : public sc_core::sc_module {
 public:
  bool has_room() const { return fifo_.size() < parts_.config.engine_queue_depth; }
  // A descriptor left the FIFO for work.
  const sc_core::sc_event& room() const { return room_; }
  void push(in_flight& item);
  // Soft reset: forgets everything. The process follows by itself.
  virtual void clear();

 protected:
  engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts);

  engine_id id() const { return id_; }
  npu_parts& parts() { return parts_; }

  // Waits until the head of the FIFO may start and takes it out, dropped ones left aside. On the way the state is
  // idle, then waiting.
  in_flight& take();
  // Takes the ports of its banks; the state is blocked while they are not free.
  void acquire(bank_set banks);
  // An engine whose work overlaps its next descriptor's wait stays busy.
  virtual void show(engine_state state) { parts_.counts.enter(id_, state, parts_.clock.now()); }
  void draw(const descriptor_view& descriptor, const sc_core::sc_time& begin, const sc_core::sc_time& end);

 private:
  void forget_dropped();

  engine_id id_;
  npu_parts& parts_;
  std::deque<in_flight*> fifo_;
  sc_core::sc_event arrival_;
  sc_core::sc_event room_;
  sc_core::sc_event ready_;  // the head of the FIFO is, or is dropped
  std::uint32_t track_;
};

// Array, vector and sampling unit: one descriptor at a time. Sources are read and results written when it starts; it
// is complete, and its results may be used, a time later that follows from its shape. Correct software starts a
// dependent descriptor after completion, so it cannot tell.
class compute_engine : public engine {
 public:
  // Does the work and returns its cycles.
  using worker = std::function<std::uint64_t(const descriptor_view&, std::span<std::byte>)>;
  // Told what a worker threw; the queue has stopped with the error lockstep.
  using failure_handler = std::function<void(const std::exception&)>;

  compute_engine(const sc_core::sc_module_name& name, engine_id id, npu_parts& parts, worker work,
                 failure_handler failed);

 private:
  void process();
  void serve();

  worker work_;
  failure_handler failed_;
};

}  // namespace dvp::npu
