// Host mailbox: the registers through which firmware meets whoever asked for an answer.
//
// The host sets the address of a request record; firmware reads it, rings `progress` whenever the progress record in
// DRAM is valid, and writes `finish` with a result code. Both host functions run inside the register write, at the
// simulated time of the write and taking none: the host is outside the chip.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <functional>
#include <systemc>
#include <tlm>

#include "tlm/core/register_bank.h"

namespace dvp::mailbox {

class mailbox : public sc_core::sc_module {
 public:
  using handler = std::function<void(std::uint32_t value)>;

  tlm_utils::simple_target_socket<mailbox> socket;

  explicit mailbox(const sc_core::sc_module_name& name);

  void set_request(std::uint64_t address);
  // value: running number of the event.
  void on_progress(handler call) { progress_ = std::move(call); }
  // value: result code.
  void on_finish(handler call) { finish_ = std::move(call); }

 private:
  void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned debug(tlm::tlm_generic_payload& payload);

  core::register_bank registers_;
  handler progress_;
  handler finish_;
};

}  // namespace dvp::mailbox
