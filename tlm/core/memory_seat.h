// What a platform and its host side need of main memory, whichever model sits there.
#pragma once

#include <cstdint>
#include <tlm>

namespace dvp::core {

class memory_seat {
 public:
  virtual ~memory_seat() = default;

  // Binds the side that sends accesses to the memory's target socket; elaboration only.
  virtual void serve(tlm::tlm_initiator_socket<>& from) = 0;

  // The stored bytes, for loaders and checks on the host side; zero where nobody wrote. Takes no simulated time and is
  // in no figure.
  virtual std::uint8_t* data() = 0;
  virtual std::uint64_t bytes() const = 0;

  // Brings the memory's figures up to the current time. Figures that a model keeps current need no call.
  virtual void update_figures() = 0;
};

}  // namespace dvp::core
