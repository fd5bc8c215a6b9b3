#include "tlm/core/protocol_checker.h"

#include <sstream>

#include "tlm/core/access_tag.h"

namespace dvp::core {

namespace {

// What a target must leave alone.
struct attributes {
  tlm::tlm_command command;
  unsigned char* data;
  unsigned int length;
  unsigned char* enables;
  unsigned int enables_length;
  unsigned int streaming_width;
  const access_tag* tag;

  explicit attributes(const tlm::tlm_generic_payload& payload)
      : command(payload.get_command()),
        data(payload.get_data_ptr()),
        length(payload.get_data_length()),
        enables(payload.get_byte_enable_ptr()),
        enables_length(payload.get_byte_enable_length()),
        streaming_width(payload.get_streaming_width()),
        tag(payload.get_extension<access_tag>()) {}
  bool operator==(const attributes&) const = default;
};

bool same_tag(const access_tag& a, const access_tag& b) {
  return a.precision == b.precision && a.purpose == b.purpose && a.elements == b.elements;
}

}  // namespace

protocol_checker::protocol_checker(const sc_core::sc_module_name& name)
    : sc_module(name), from_initiator("from_initiator"), to_target("to_target") {
  from_initiator.register_b_transport(this, &protocol_checker::b_transport);
  from_initiator.register_transport_dbg(this, &protocol_checker::transport_dbg);
  from_initiator.register_get_direct_mem_ptr(this, &protocol_checker::get_direct_mem_ptr);
  to_target.register_invalidate_direct_mem_ptr(this, &protocol_checker::invalidate_direct_mem_ptr);
}

void protocol_checker::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
  require(payload.get_data_length() > 0, "data length is 0");
  require(payload.get_data_ptr() != nullptr, "data pointer is null");
  require(payload.get_streaming_width() > 0, "streaming width is 0");
  require(payload.get_byte_enable_ptr() == nullptr || payload.get_byte_enable_length() > 0, "byte enables of length 0");
  require(payload.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE, "response status is set before the access");
  require(!payload.is_dmi_allowed(), "DMI hint is set before the access");

  const attributes before(payload);
  const access_tag tag_before = tag_of(payload);
  const sc_core::sc_time local_before = sc_core::sc_time_stamp() + delay;

  to_target->b_transport(payload, delay);

  require(payload.get_response_status() != tlm::TLM_INCOMPLETE_RESPONSE, "target left the response INCOMPLETE");
  require(attributes(payload) == before, "target changed an attribute or replaced the access tag");
  require(same_tag(tag_of(payload), tag_before), "target changed the access tag");
  require(sc_core::sc_time_stamp() + delay >= local_before, "target took time back");
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

void protocol_checker::require(bool rule, const char* what) {
  if (rule) return;
  std::ostringstream sentence;
  sentence << name() << " at " << sc_core::sc_time_stamp() << ": " << what;
  violations_.push_back(sentence.str());
  SC_REPORT_WARNING("/dvp/protocol", violations_.back().c_str());
}

}  // namespace dvp::core
