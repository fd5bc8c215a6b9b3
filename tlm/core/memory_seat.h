// What a platform, its converter block and its host side need of main memory, whichever model sits there.
#pragma once

#include <cstdint>
#include <tlm>

#include "tlm/numerics/converter.h"

namespace dvp::core {

class memory_seat {
 public:
  virtual ~memory_seat() = default;

  // Binds the side that sends accesses to the memory's target socket; elaboration only.
  virtual void serve(tlm::tlm_initiator_socket<>& from) = 0;

  // View numbers that set_view() takes: 1 to this; 0 when the memory does not convert.
  virtual std::uint32_t views() const { return 0; }
  // From now on reads tagged q4 or q2 that arrive with this number convert by `v`. False, and nothing changes, for a
  // number it does not take and for a view that no such read can use.
  virtual bool set_view(std::uint16_t /*number*/, const numerics::view& /*v*/) { return false; }

  // The stored bytes, for loaders and checks on the host side; zero where nobody wrote. Takes no simulated time and is
  // in no figure.
  virtual std::uint8_t* data() = 0;
  virtual std::uint64_t bytes() const = 0;

  // Brings the memory's figures up to the current time. Figures that a model keeps current need no call.
  virtual void update_figures() = 0;
};

}  // namespace dvp::core
