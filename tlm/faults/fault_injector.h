// Puts faults on the NPU's way to memory: sits between its memory socket and the bus.
//
// An access that suffers no fault passes through unchanged and without time, whichever transport it uses, as debug and
// direct-memory calls always do. What one does that suffers a fault, by kind (fault_plan.h):
//   bus_error          TLM_ADDRESS_ERROR_RESPONSE at once; the bus does not see it.
//   stuck              b_transport: done, and answered a day of simulated time later. Non-blocking: END_REQ, then
//                      nothing; the bus does not see it, and the payload stays the initiator's.
//   descriptor, ecc_silent   done; when the answer is OK, its data have the bits inverted. Memory keeps its bytes.
//   record             what is written has the bits inverted; the initiator's data have them until the answer.
//                            Of a converted read these are bits of what is delivered.
//   ecc_corrected      done, and answered correction_ps later.
//   ecc_uncorrectable  done; an answer that is OK becomes TLM_GENERIC_ERROR_RESPONSE.
// Which class an access belongs to follows from its access tag (purpose commands) and its direction.
//
// Figures: faults.injected.<kind>. Timeline: an instant per fault on the track faults/injected.
#pragma once

#include <optional>
#include <systemc>
#include <tlm>
#include <unordered_map>

#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/faults/fault_plan.h"
#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::faults {

class fault_injector : public sc_core::sc_module {
 public:
  // figures and timeline outlive the injector.
  fault_injector(const sc_core::sc_module_name& name, const fault_plan& plan, core::statistics& figures,
                 core::timeline& timeline);

  tlm_utils::simple_target_socket<fault_injector> from_initiator;
  tlm_utils::simple_initiator_socket<fault_injector> to_target;

  // Shared with the gate of the interrupt line; a host may arm faults between requests.
  fault_schedule& schedule() { return schedule_; }

  // The fault that this event suffers, counted and told.
  std::optional<fault> happens(event_class what, std::uint64_t address, std::uint64_t bytes);

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  unsigned int transport_dbg(tlm::tlm_generic_payload& payload);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);

  std::optional<fault> suffered_by(const tlm::tlm_generic_payload& payload);
  // A record is inverted for as long as the access lasts: what memory takes, not what the initiator keeps.
  static void begin(const tlm::tlm_generic_payload& payload, const fault& suffered);
  void end(tlm::tlm_generic_payload& payload, const fault& suffered, sc_core::sc_time& delay) const;
  void end_if_answered(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

  fault_schedule schedule_;
  sc_core::sc_time correction_;
  core::statistics& figures_;
  core::timeline& timeline_;
  std::uint32_t track_;
  // Non-blocking accesses with a fault, between BEGIN_REQ and their answer.
  std::unordered_map<const tlm::tlm_generic_payload*, fault> under_way_;
};

}  // namespace dvp::faults
