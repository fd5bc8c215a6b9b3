#include "tlm/core/payload_rules.h"

#include <algorithm>

namespace dvp::core {

payload_attributes::payload_attributes(const tlm::tlm_generic_payload& payload)
    : command_(payload.get_command()),
      data_(payload.get_data_ptr()),
      length_(payload.get_data_length()),
      enables_(payload.get_byte_enable_ptr()),
      enables_length_(payload.get_byte_enable_length()),
      streaming_width_(payload.get_streaming_width()),
      attached_(payload.get_extension<access_tag>()),
      tag_(tag_of(payload)) {}

void payload_attributes::check_unchanged(const tlm::tlm_generic_payload& payload, const broken_rule& broken) const {
  const payload_attributes now(payload);
  if (now.command_ != command_ || now.data_ != data_ || now.length_ != length_ || now.enables_ != enables_ ||
      now.enables_length_ != enables_length_ || now.streaming_width_ != streaming_width_ ||
      now.attached_ != attached_) {
    broken("target changed an attribute or replaced the access tag");
  } else if (!(now.tag_ == tag_)) {
    broken("target changed the access tag");
  }
}

void check_request(const tlm::tlm_generic_payload& payload, const broken_rule& broken) {
  const auto require = [&](bool rule, const char* what) {
    if (!rule) broken(what);
  };
  require(payload.get_data_length() > 0, "data length is 0");
  require(payload.get_data_ptr() != nullptr, "data pointer is null");
  require(payload.get_streaming_width() > 0, "streaming width is 0");
  require(payload.get_byte_enable_ptr() == nullptr || payload.get_byte_enable_length() > 0, "byte enables of length 0");
  require(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE, "response status is set before the access");
  require(!payload.is_dmi_allowed(), "DMI hint is set before the access");
}

void phase_rules::forward(const tlm::tlm_generic_payload& payload, const call& entry) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + entry.delay;
  if (entry.phase == tlm::BEGIN_REQ) {
    begin_request(payload, at);
  } else if (entry.phase == tlm::END_RESP) {
    end_response(payload, at);
  } else if (entry.phase == tlm::END_REQ || entry.phase == tlm::BEGIN_RESP) {
    broken_("initiator sent a phase that is the target's");
  }
}

void phase_rules::forward_returned(const tlm::tlm_generic_payload& payload, const call& entry,
                                   tlm::tlm_sync_enum answer, const call& left) {
  check_answer(entry, answer, left);
  const sc_core::sc_time at = sc_core::sc_time_stamp() + left.delay;
  if (entry.phase == tlm::BEGIN_REQ) {
    if (answer == tlm::TLM_COMPLETED) {
      complete(payload, at);
    } else if (answer == tlm::TLM_UPDATED && left.phase == tlm::END_REQ) {
      end_request(payload, at);
    } else if (answer == tlm::TLM_UPDATED && left.phase == tlm::BEGIN_RESP) {
      begin_response(payload, at);
    } else if (answer == tlm::TLM_UPDATED) {
      broken_("target answered BEGIN_REQ with a phase other than END_REQ and BEGIN_RESP");
    }
  } else if (entry.phase == tlm::END_RESP) {
    require(answer != tlm::TLM_UPDATED, "target answered END_RESP with another phase");
  }
}

void phase_rules::backward(const tlm::tlm_generic_payload& payload, const call& entry) {
  const sc_core::sc_time at = sc_core::sc_time_stamp() + entry.delay;
  if (entry.phase == tlm::END_REQ) {
    end_request(payload, at);
  } else if (entry.phase == tlm::BEGIN_RESP) {
    begin_response(payload, at);
  } else if (entry.phase == tlm::BEGIN_REQ || entry.phase == tlm::END_RESP) {
    broken_("target sent a phase that is the initiator's");
  }
}

void phase_rules::backward_returned(const tlm::tlm_generic_payload& payload, const call& entry,
                                    tlm::tlm_sync_enum answer, const call& left) {
  check_answer(entry, answer, left);
  const sc_core::sc_time at = sc_core::sc_time_stamp() + left.delay;
  if (entry.phase == tlm::BEGIN_RESP) {
    if (answer == tlm::TLM_COMPLETED || (answer == tlm::TLM_UPDATED && left.phase == tlm::END_RESP)) {
      end_response(payload, at);
    } else if (answer == tlm::TLM_UPDATED) {
      broken_("initiator answered BEGIN_RESP with a phase other than END_RESP");
    }
  } else if (entry.phase == tlm::END_REQ) {
    require(answer == tlm::TLM_ACCEPTED, "initiator answered END_REQ with another phase");
  }
}

void phase_rules::begin_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  check_request(payload, broken_);
  require(payload.has_mm(), "non-blocking access without a memory manager");
  require(!payload.has_mm() || payload.get_ref_count() > 0, "payload is not acquired");
  require(requesting_ == nullptr && at >= request_over_, "BEGIN_REQ before the request before it has ended");
  if (!accesses_.try_emplace(&payload, access{payload_attributes(payload), at}).second) {
    broken_("BEGIN_REQ with a payload that is still under way");
  }
  requesting_ = &payload;
}

void phase_rules::end_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  access* a = advance(payload, at);
  if (a == nullptr) return;
  require(a->at == state::requested, "END_REQ of a request that has ended");
  a->at = state::accepted;
  request_is_over(payload, at);
}

void phase_rules::begin_response(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  access* a = advance(payload, at);
  if (a == nullptr) return;
  require(responding_ == nullptr && at >= response_over_, "BEGIN_RESP before the response before it has ended");
  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "target left the response INCOMPLETE");
  request_is_over(payload, at);
  a->at = state::responding;
  responding_ = &payload;
}

void phase_rules::end_response(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const access* a = advance(payload, at);
  if (a == nullptr) return;
  require(a->at == state::responding, "END_RESP before BEGIN_RESP");
  if (responding_ == &payload) {
    responding_ = nullptr;
    response_over_ = at;
  }
  accesses_.erase(&payload);
}

void phase_rules::complete(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  if (advance(payload, at) == nullptr) return;
  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "target left the response INCOMPLETE");
  request_is_over(payload, at);
  accesses_.erase(&payload);
}

void phase_rules::request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  if (requesting_ != &payload) return;
  requesting_ = nullptr;
  request_over_ = at;
}

phase_rules::access* phase_rules::advance(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at) {
  const auto found = accesses_.find(&payload);
  if (found == accesses_.end()) {
    broken_("phase of a payload that is not under way");
    return nullptr;
  }
  found->second.attributes.check_unchanged(payload, broken_);
  require(!payload.has_mm() || payload.get_ref_count() > 0, "payload was released while under way");
  require(at >= found->second.latest, "phase at a time before the phase before it");
  found->second.latest = std::max(found->second.latest, at);
  return &found->second;
}

void phase_rules::check_answer(const call& entry, tlm::tlm_sync_enum answer, const call& left) const {
  if (answer == tlm::TLM_ACCEPTED) {
    require(left.phase == entry.phase && left.delay == entry.delay, "TLM_ACCEPTED with a changed phase or delay");
  } else {
    require(left.delay >= entry.delay, "time was taken back");
  }
}

}  // namespace dvp::core
