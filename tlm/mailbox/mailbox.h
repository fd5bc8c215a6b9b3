// Host mailbox: the registers through which firmware meets whoever asks for answers.
//
// The host sets the address of a request record, which makes request_state.pending 1 and the interrupt line high until
// firmware accepts the request by writing 1 to it. Firmware rings `progress` whenever the progress record in DRAM is
// valid, and writes `finish` with a result code. The host's functions run inside the register write, at the simulated
// time of the write and taking none: the host is outside the chip. They may set the next request.
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

#include "tlm/core/register_target.h"

namespace dvp::mailbox {

class mailbox : public core::register_target {
 public:
  using handler = std::function<void(std::uint32_t value)>;

  // request_state.pending, a level.
  sc_core::sc_out<bool> interrupt;

  explicit mailbox(const sc_core::sc_module_name& name);

  // A request that is pending already is replaced.
  void set_request(std::uint64_t address);
  // The request set last was accepted.
  void on_accept(std::function<void()> call) { accept_ = std::move(call); }
  // value: running number of the event.
  void on_progress(handler call) { progress_ = std::move(call); }
  // value: result code.
  void on_finish(handler call) { finish_ = std::move(call); }

 private:
  void drive_interrupt();

  sc_core::sc_event state_changed_;
  bool offered_ = false;  // a request that nobody has accepted
  std::function<void()> accept_;
  handler progress_;
  handler finish_;
};

}  // namespace dvp::mailbox
