// The TLM-2.0 rules of the base protocol as a state machine that watches one connection; protocol_checker.h says which.
#pragma once

#include <cstddef>
#include <functional>
#include <systemc>
#include <tlm>
#include <unordered_map>

#include "tlm/core/access_tag.h"

namespace dvp::core {

// Where a broken rule is told, one sentence without subject.
using broken_rule = std::function<void(const char*)>;

// What a target must leave alone, as it was at the start of an access.
class payload_attributes {
 public:
  explicit payload_attributes(const tlm::tlm_generic_payload& payload);
  void check_unchanged(const tlm::tlm_generic_payload& payload, const broken_rule& broken) const;

 private:
  tlm::tlm_command command_;
  unsigned char* data_;
  unsigned int length_;
  unsigned char* enables_;
  unsigned int enables_length_;
  unsigned int streaming_width_;
  const access_tag* attached_;
  access_tag tag_;
};

// What an initiator must have set when an access starts.
void check_request(const tlm::tlm_generic_payload& payload, const broken_rule& broken);

// Phases of non-blocking accesses. Tell each call before it is passed on, and what it returned afterwards.
class phase_rules {
 public:
  explicit phase_rules(broken_rule broken) : broken_(std::move(broken)) {}

  // One non-blocking call, in either direction, with the arguments as they were on entry.
  struct call {
    tlm::tlm_phase phase;
    sc_core::sc_time delay;
  };
  void forward(const tlm::tlm_generic_payload& payload, const call& entry);
  void forward_returned(const tlm::tlm_generic_payload& payload, const call& entry, tlm::tlm_sync_enum answer,
                        const call& left);
  void backward(const tlm::tlm_generic_payload& payload, const call& entry);
  void backward_returned(const tlm::tlm_generic_payload& payload, const call& entry, tlm::tlm_sync_enum answer,
                         const call& left);

  // Accesses begun and not complete.
  std::size_t under_way() const { return accesses_.size(); }

 private:
  enum class state { requested, accepted, responding };
  struct access {
    payload_attributes attributes;
    sc_core::sc_time latest;  // of its phases, delays included
    state at = state::requested;
  };

  void require(bool rule, const char* what) const {
    if (!rule) broken_(what);
  }
  // The access of a phase that follows another; null, and told, when there is none.
  access* advance(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void begin_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void end_request(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void begin_response(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void end_response(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void request_is_over(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void complete(const tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void check_answer(const call& entry, tlm::tlm_sync_enum answer, const call& left) const;

  broken_rule broken_;
  std::unordered_map<const tlm::tlm_generic_payload*, access> accesses_;
  const tlm::tlm_generic_payload* requesting_ = nullptr;
  const tlm::tlm_generic_payload* responding_ = nullptr;
  sc_core::sc_time request_over_;   // when the last request phase ended
  sc_core::sc_time response_over_;  // when the last response phase ended
};

}  // namespace dvp::core
