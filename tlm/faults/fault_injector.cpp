#include "tlm/faults/fault_injector.h"

#include <string>

#include "tlm/core/access_tag.h"
#include "tlm/core/sim_time.h"

namespace dvp::faults {

namespace {

const sc_core::sc_time never(86400, sc_core::SC_SEC);

event_class class_of(const tlm::tlm_generic_payload& payload) {
  const bool command = core::tag_of(payload).purpose == gen::purpose::commands;
  if (payload.is_read()) return command ? event_class::fetch : event_class::read;
  return command ? event_class::record : event_class::write;
}

}  // namespace

fault_injector::fault_injector(const sc_core::sc_module_name& name, const fault_plan& plan, core::statistics& figures,
                               core::timeline& timeline)
    : sc_module(name),
      from_initiator("from_initiator"),
      to_target("to_target"),
      schedule_(plan),
      correction_(static_cast<double>(plan.correction_ps), sc_core::SC_PS),
      figures_(figures),
      timeline_(timeline),
      track_(timeline.track("faults", "injected")) {
  from_initiator.register_b_transport(this, &fault_injector::b_transport);
  from_initiator.register_nb_transport_fw(this, &fault_injector::nb_transport_fw);
  from_initiator.register_transport_dbg(this, &fault_injector::transport_dbg);
  from_initiator.register_get_direct_mem_ptr(this, &fault_injector::get_direct_mem_ptr);
  to_target.register_nb_transport_bw(this, &fault_injector::nb_transport_bw);
  to_target.register_invalidate_direct_mem_ptr(this, &fault_injector::invalidate_direct_mem_ptr);
}

std::optional<fault> fault_injector::happens(event_class what, std::uint64_t address, std::uint64_t bytes) {
  std::optional<fault> suffered = schedule_.next(what, core::picoseconds(sc_core::sc_time_stamp()));
  if (suffered) {
    const char* kind = kind_names[static_cast<std::size_t>(suffered->kind)];
    figures_.add(std::string("faults.injected.") + kind, 1);
    timeline_.instant(track_, kind, sc_core::sc_time_stamp(),
                      {{"event", std::string_view(class_names[static_cast<std::size_t>(what)])},
                       {"address", address},
                       {"bytes", bytes}});
  }
  return suffered;
}

std::optional<fault> fault_injector::suffered_by(const tlm::tlm_generic_payload& payload) {
  return happens(class_of(payload), payload.get_address(), payload.get_data_length());
}

void fault_injector::begin(const tlm::tlm_generic_payload& payload, const fault& suffered) {
  if (suffered.kind == fault_kind::record) invert(suffered.bits, payload.get_data_ptr(), payload.get_data_length());
}

void fault_injector::end(tlm::tlm_generic_payload& payload, const fault& suffered, sc_core::sc_time& delay) const {
  switch (suffered.kind) {
    case fault_kind::record:
      invert(suffered.bits, payload.get_data_ptr(), payload.get_data_length());
      break;
    case fault_kind::descriptor:
    case fault_kind::ecc_silent:
      if (payload.is_response_ok()) invert(suffered.bits, payload.get_data_ptr(), payload.get_data_length());
      break;
    case fault_kind::ecc_uncorrectable:
      if (payload.is_response_ok()) payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
      break;
    case fault_kind::ecc_corrected:
      delay += correction_;
      break;
    case fault_kind::stuck:
      delay += never;
      break;
    case fault_kind::bus_error:
    case fault_kind::lost_interrupt:
      break;
  }
}

void fault_injector::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const std::optional<fault> suffered = suffered_by(payload);
  if (!suffered) {
    to_target->b_transport(payload, delay);
    return;
  }
  if (suffered->kind == fault_kind::bus_error) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return;
  }
  begin(payload, *suffered);
  to_target->b_transport(payload, delay);
  end(payload, *suffered, delay);
}

tlm::tlm_sync_enum fault_injector::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) {
    const std::optional<fault> suffered = suffered_by(payload);
    if (suffered && suffered->kind == fault_kind::bus_error) {
      payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
      return tlm::TLM_COMPLETED;
    }
    if (suffered && suffered->kind == fault_kind::stuck) {
      phase = tlm::END_REQ;
      return tlm::TLM_UPDATED;
    }
    if (suffered) {
      begin(payload, *suffered);
      under_way_.emplace(&payload, *suffered);
    }
  }
  const tlm::tlm_sync_enum answer = to_target->nb_transport_fw(payload, phase, delay);
  if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && phase == tlm::BEGIN_RESP)) {
    end_if_answered(payload, delay);
  }
  return answer;
}

tlm::tlm_sync_enum fault_injector::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                                   sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_RESP) end_if_answered(payload, delay);
  return from_initiator->nb_transport_bw(payload, phase, delay);
}

void fault_injector::end_if_answered(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  const auto found = under_way_.find(&payload);
  if (found == under_way_.end()) return;
  end(payload, found->second, delay);
  under_way_.erase(found);
}

unsigned int fault_injector::transport_dbg(tlm::tlm_generic_payload& payload) {
  return to_target->transport_dbg(payload);
}

bool fault_injector::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
  return to_target->get_direct_mem_ptr(payload, dmi);
}

void fault_injector::invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end) {
  from_initiator->invalidate_direct_mem_ptr(start, end);
}

}  // namespace dvp::faults
