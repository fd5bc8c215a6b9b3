// What the controller has to do later, in order of time; what is due together comes in the order it was put.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace dvp::lpddr5 {

enum class due_kind : std::uint8_t {
  arrival,        // a request that was announced with a delay
  accepted,       // END_REQ
  finished,       // BEGIN_RESP
  response_over,  // the initiator may get its next response
};

struct due_event {
  std::uint64_t at = 0;     // a value of sc_time
  std::uint64_t order = 0;  // set by put()
  std::uint32_t index = 0;  // an access, or an initiator for response_over
  due_kind kind = due_kind::arrival;
};

class due_events {
 public:
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  bool empty() const { return heap_.empty(); }
  // Of the first event; none when there is none.
  std::uint64_t next() const { return heap_.empty() ? none : heap_.front().at; }

  void put(std::uint64_t at, due_kind kind, std::uint32_t index) {
    heap_.push_back({at, order_++, index, kind});
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  // Precondition: not empty.
  due_event take() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    const due_event first = heap_.back();
    heap_.pop_back();
    return first;
  }

 private:
  static bool later(const due_event& a, const due_event& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }

  std::vector<due_event> heap_;
  std::uint64_t order_ = 0;
};

}  // namespace dvp::lpddr5
