#include "tlm/core/register_target.h"

namespace dvp::core {

register_target::register_target(const sc_core::sc_module_name& name, const gen::block_info& block)
    : sc_module(name), socket("socket"), registers_(block) {
  socket.register_b_transport(this, &register_target::b_transport);
  socket.register_transport_dbg(this, &register_target::transport_dbg);
}

void register_target::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  if (delay != sc_core::SC_ZERO_TIME) {
    sc_core::wait(delay);
    delay = sc_core::SC_ZERO_TIME;
  }
  registers_.access(payload, false);
}

unsigned int register_target::transport_dbg(tlm::tlm_generic_payload& payload) {
  return registers_.access(payload, true) == tlm::TLM_OK_RESPONSE ? payload.get_data_length() : 0;
}

}  // namespace dvp::core
