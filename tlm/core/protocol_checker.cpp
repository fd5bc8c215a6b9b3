#include "tlm/core/protocol_checker.h"

#include <sstream>

namespace dvp::core {

protocol_checker::protocol_checker(const sc_core::sc_module_name& name)
    : sc_module(name),
      from_initiator("from_initiator"),
      to_target("to_target"),
      phases_([this](const char* what) { broken(what); }) {
  from_initiator.register_b_transport(this, &protocol_checker::b_transport);
  from_initiator.register_nb_transport_fw(this, &protocol_checker::nb_transport_fw);
  from_initiator.register_transport_dbg(this, &protocol_checker::transport_dbg);
  from_initiator.register_get_direct_mem_ptr(this, &protocol_checker::get_direct_mem_ptr);
  to_target.register_nb_transport_bw(this, &protocol_checker::nb_transport_bw);
  to_target.register_invalidate_direct_mem_ptr(this, &protocol_checker::invalidate_direct_mem_ptr);
}

void protocol_checker::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const broken_rule tell = [this](const char* what) { broken(what); };
  check_request(payload, tell);
  const payload_attributes before(payload);
  const sc_core::sc_time local_before = sc_core::sc_time_stamp() + delay;

  to_target->b_transport(payload, delay);

  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "target left the response INCOMPLETE");
  before.check_unchanged(payload, tell);
  require(sc_core::sc_time_stamp() + delay >= local_before, "target took time back");
}

tlm::tlm_sync_enum protocol_checker::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const phase_rules::call entry{phase, delay};
  phases_.forward(payload, entry);
  const tlm::tlm_sync_enum answer = to_target->nb_transport_fw(payload, phase, delay);
  phases_.forward_returned(payload, entry, answer, {phase, delay});
  return answer;
}

tlm::tlm_sync_enum protocol_checker::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                     sc_core::sc_time& delay) {
  const phase_rules::call entry{phase, delay};
  phases_.backward(payload, entry);
  const tlm::tlm_sync_enum answer = from_initiator->nb_transport_bw(payload, phase, delay);
  phases_.backward_returned(payload, entry, answer, {phase, delay});
  return answer;
}

unsigned int protocol_checker::transport_dbg(tlm::tlm_generic_payload& payload) {
  const unsigned int count = to_target->transport_dbg(payload);
  require(count <= payload.get_data_length(), "target moved more debug bytes than asked");
  return count;
}

bool protocol_checker::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  const sc_dt::uint64 address = payload.get_address();
  const bool granted = to_target->get_direct_mem_ptr(payload, dmi);
  require(!granted || dmi.get_dmi_ptr() != nullptr, "target granted DMI without a pointer");
  require(!granted || (dmi.get_start_address() <= address && address <= dmi.get_end_address()),
          "target granted DMI elsewhere than asked");
  return granted;
}

void protocol_checker::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  require(start <= end, "target invalidated an empty range");
  from_initiator->invalidate_direct_mem_ptr(start, end);
}

void protocol_checker::broken(const char* what) {
  std::ostringstream sentence;
  sentence << name() << " at " << sc_core::sc_time_stamp() << ": " << what;
  violations_.push_back(sentence.str());
  SC_REPORT_WARNING("/dvp/protocol", violations_.back().c_str());
}

}  // namespace dvp::core
