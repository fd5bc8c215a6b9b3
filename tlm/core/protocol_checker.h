// Checks the TLM-2.0 rules of the base protocol on one connection; put it between any initiator and target.
//
// Every access. Initiator: data length, streaming width and (with byte enables) their length above 0, a data pointer,
// response status INCOMPLETE and DMI hint clear on entry. Target: a response status other than INCOMPLETE, all
// attributes but address, response and DMI hint unchanged, the access tag still attached and unchanged, time not taken
// back.
// Debug and DMI: debug count at most the data length, a DMI grant that holds the asked address.
// Non-blocking accesses: phases in order and each from its own side; a payload with a memory manager, acquired until
// its last phase and not begun again before it; one request and one response at a time, also when their ends are
// annotated with a delay; the response status set by BEGIN_RESP or TLM_COMPLETED; no phase earlier than the one before
// it; TLM_ACCEPTED changes neither phase nor delay. An access may end early with TLM_COMPLETED. Phases that are not the
// base protocol's pass unchecked.
//
// Accesses pass through unchanged and without time whether or not they break a rule.
//
// Each broken rule is kept as one sentence with module name and time, and reported as SC_REPORT_WARNING with id
// "/dvp/protocol", so a simulation can raise that id to an error.
#pragma once

#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/payload_rules.h"
#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::core {

class protocol_checker : public sc_core::sc_module {
 public:
  explicit protocol_checker(const sc_core::sc_module_name& name);

  tlm_utils::simple_target_socket<protocol_checker> from_initiator;
  tlm_utils::simple_initiator_socket<protocol_checker> to_target;

  const std::vector<std::string>& violations() const { return violations_; }
  // Non-blocking accesses begun and not complete: 0 at the end of a run that was left to finish.
  std::size_t under_way() const { return phases_.under_way(); }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);
  void require(bool rule, const char* what) {
    if (!rule) broken(what);
  }
  void broken(const char* what);

  std::vector<std::string> violations_;
  phase_rules phases_;
};

}  // namespace dvp::core
