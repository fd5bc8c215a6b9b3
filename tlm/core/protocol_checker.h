// Checks the TLM-2.0 rules of blocking traffic on one connection; put it between any initiator and target.
//
// Initiator rules: data length, streaming width and (with byte enables) their length above 0, a data pointer, response
// status INCOMPLETE and DMI hint clear on entry. Target rules: a response status other than INCOMPLETE, all attributes
// but address, response and DMI hint unchanged, the access tag still attached and unchanged, time not taken back,
// debug count at most the data length, a DMI grant that holds the asked address. Accesses pass through unchanged and
// without time whether or not they break a rule.
//
// Each broken rule is kept as one sentence with module name and time, and reported as SC_REPORT_WARNING with id
// "/dvp/protocol", so a simulation can raise that id to an error.
#pragma once

#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::core {

class protocol_checker : public sc_core::sc_module {
 public:
  explicit protocol_checker(const sc_core::sc_module_name& name);

  tlm_utils::simple_target_socket<protocol_checker> from_initiator;
  tlm_utils::simple_initiator_socket<protocol_checker> to_target;

  const std::vector<std::string>& violations() const { return violations_; }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);
  void require(bool rule, const char* what);

  std::vector<std::string> violations_;
};

}  // namespace dvp::core
