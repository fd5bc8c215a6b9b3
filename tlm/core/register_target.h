// A block of registers on the bus: one target socket in front of a register_bank. Blocks derive from it and attach
// their hooks in the constructor.
//
// Registers are met at the exact time: b_transport waits for the delay it is called with and returns none, so hooks may
// look at sc_time_stamp(). With a delay of zero it does not wait. Debug accesses have no effect; there is no DMI.
#pragma once

#include <systemc>
#include <tlm>

#include "tlm/core/register_bank.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::core {

class register_target : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<register_target> socket;

  // For traces of register accesses and for tests.
  register_bank& bank() { return registers_; }

 protected:
  register_target(const sc_core::sc_module_name& name, const gen::block_info& block);

  register_bank registers_;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
};

}  // namespace dvp::core
