// One command queue between its fetch and its head: which descriptors are in flight, which are complete, why it
// stopped.
//
//     rung in (tail) --fetch, check--> dispatched --engine--> done --record written--> retired --in order--> head
//
// A descriptor is *done* when its engine ends; dependents may start then. It is *retired* when its record, if asked
// for, is in memory as well, and the head passes it once all earlier ones are retired. Its interrupt is raised when the
// head passes, so that whoever it wakes finds the head beyond it. A fence is done when it is the oldest.
//
// A queue that fails keeps the first error. Descriptors after the failing one are dropped: those still waiting never
// start, one already in work runs to its end without completing. Earlier ones go on, and the head stops at the failing
// one. With the record flag the failing descriptor leaves a record with the error before the error is made public.
//
// No process of its own; indices are running counts of 64 bits, their low halves are what registers show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <systemc>
#include <vector>

#include "dvp_gen/npu_regs.h"
#include "tlm/npu/counters.h"
#include "tlm/npu/descriptor_view.h"

namespace dvp::npu {

class command_queue;

struct in_flight {
  enum class state : std::uint8_t { dispatched, done, retired, failed };

  descriptor_view descriptor;
  std::uint64_t index = 0;
  command_queue* queue = nullptr;
  state progress = state::dispatched;
  bool dropped = false;
};

// A record that is due, or an error to be made public after its record.
struct notice {
  std::uint64_t index = 0;
  gen::descriptor_header header;
  gen::npu::error_code error = gen::npu::error_code::none;
  std::uint64_t end_edge = 0;
};

// The rings of a queue, as its registers say.
struct ring_setup {
  std::uint64_t base = 0;
  std::uint64_t completion_base = 0;  // 0: no records
  std::uint32_t entries = 0;
  bool with_check_byte = false;  // every descriptor carries one
};

class command_queue {
 public:
  struct listener {
    std::function<void()> completion;      // the head passed a descriptor with the interrupt flag
    std::function<void()> error;           // the error became public
    std::function<void()> backlog_change;  // has_backlog() may have changed
  };

  command_queue(counters& counts, listener events) : counts_(counts), events_(std::move(events)) {}

  // The doorbell moved to this running count with these registers; false, and nothing changed, when that is more than
  // the ring holds or backwards, or when the ring cannot be (base not aligned, length no power of two). The set-up is
  // taken over when nothing is in flight; software does not change it otherwise.
  bool ring(std::uint32_t tail, const ring_setup& setup);
  const ring_setup& ring_in_use() const { return ring_; }

  std::uint64_t head() const { return head_; }
  std::uint64_t tail() const { return tail_; }
  std::uint64_t dispatched() const { return head_ + window_.size(); }
  bool stopped() const { return stopped_; }
  bool has_backlog() const { return !stopped_ && dispatched() != tail_; }
  bool is_busy() const;
  gen::npu::error_code error() const { return error_; }
  std::uint64_t error_index() const { return error_index_; }
  std::uint64_t fault_address() const { return fault_address_; }

  // A descriptor came out of the ring, in order.
  void count_fetched(const descriptor_view& descriptor);
  // FNV-1a, 64 bits, over the bytes of every descriptor fetched since the last clear(): the same for two programs that
  // ask the block for the same.
  std::uint64_t fetched_hash() const { return fetched_hash_; }

  // The next descriptor in order enters the window. The reference holds until the head passes it or clear().
  in_flight& append(const descriptor_view& descriptor);
  // The same for a fence, which may be done at once.
  void append_fence(const descriptor_view& descriptor, std::uint64_t edge);
  // Whether everything the descriptor waits for is done.
  bool is_ready(const in_flight& item) const;
  // Notifies the event once, when the descriptor is ready or dropped, which it is not yet; nothing after clear().
  void tell_when_ready(const in_flight& item, sc_core::sc_event& event) { waiters_.push_back({&item, &event}); }

  // Its engine has ended.
  void complete(in_flight& item, std::uint64_t edge);
  // Stops the queue because of this descriptor in flight, or of one that was not dispatched. address: of the access
  // that failed.
  void fail(in_flight& item, gen::npu::error_code code, std::uint64_t edge, std::uint64_t address = 0);
  void fail(std::uint64_t index, const gen::descriptor_header& header, gen::npu::error_code code, std::uint64_t edge,
            std::uint64_t address = 0);

  // Records that are due, oldest first; each is given back: settle() when its record, if any, is in
  // memory, refuse() when memory did not take it.
  bool has_notice() const { return !notices_.empty(); }
  notice take_notice();
  void settle(const notice& item, std::uint64_t edge);
  void refuse(const notice& item, gen::npu::error_code code, std::uint64_t edge, std::uint64_t address);

  // As after power-on, ring set-up included.
  void clear();

  const sc_core::sc_event& stop() const { return stop_; }
  const sc_core::sc_event& notice_due() const { return notice_due_; }
  // The doorbell moved or fetching was allowed; the block notifies it for the latter.
  sc_core::sc_event work;

 private:
  struct waiter {
    const in_flight* item;
    sc_core::sc_event* event;
  };

  bool is_done(std::uint64_t index) const;
  void tell_waiters();
  void add_notice(const notice& item);
  in_flight* find(std::uint64_t index);
  void finish(in_flight& item, std::uint64_t edge);
  void advance(std::uint64_t edge);
  void publish(gen::npu::error_code code);

  counters& counts_;
  listener events_;
  ring_setup ring_;
  std::deque<in_flight> window_;  // from head on; its end is the next to dispatch
  std::deque<notice> notices_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;
  static constexpr std::uint64_t hash_start = 0xcbf29ce484222325;

  std::uint64_t fetched_hash_ = hash_start;
  bool stopped_ = false;
  std::uint64_t error_index_ = 0;
  std::uint64_t fault_address_ = 0;
  gen::npu::error_code error_ = gen::npu::error_code::none;  // as made public
  std::vector<waiter> waiters_;                              // few: one per engine at most
  sc_core::sc_event stop_;
  sc_core::sc_event notice_due_;
};

}  // namespace dvp::npu
