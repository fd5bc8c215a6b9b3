// A TLM initiator driven by plain calls from a test body, and a way to see reports as exceptions.
//
// The calls do not need a thread as long as the target does not wait; start the kernel once
// (sc_core::sc_start(sc_core::SC_ZERO_TIME)) before the first one.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "tlm/core/access_tag.h"

namespace dvp::test {

struct outcome {
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  sc_core::sc_time delay;  // as returned
  bool dmi_hint = false;
};

// What an access may have beyond command, address and data.
struct access_options {
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;  // on entry
  std::vector<std::uint8_t> enables = {};          // empty: none
  std::uint32_t streaming_width = 0;               // 0: the data length
  core::access_tag* tag = nullptr;
};

class tlm_initiator : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<tlm_initiator> socket;
  struct range {
    std::uint64_t first, last;
  };
  std::vector<range> invalidated;

  explicit tlm_initiator(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &tlm_initiator::invalidate);
  }

  outcome access(tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& data,
                 access_options options = {}) {
    tlm::tlm_generic_payload payload;
    fill(payload, command, address, data);
    if (options.streaming_width != 0) payload.set_streaming_width(options.streaming_width);
    if (!options.enables.empty()) {
      payload.set_byte_enable_ptr(options.enables.data());
      payload.set_byte_enable_length(static_cast<unsigned int>(options.enables.size()));
    }
    if (options.tag != nullptr) payload.set_extension(options.tag);
    sc_core::sc_time delay = options.delay;
    socket->b_transport(payload, delay);
    if (options.tag != nullptr) payload.clear_extension<core::access_tag>();
    return {payload.get_response_status(), delay, payload.is_dmi_allowed()};
  }
  outcome write(std::uint64_t address, std::vector<std::uint8_t> data, access_options options = {}) {
    return access(tlm::TLM_WRITE_COMMAND, address, data, std::move(options));
  }
  outcome read(std::uint64_t address, std::vector<std::uint8_t>& data, access_options options = {}) {
    return access(tlm::TLM_READ_COMMAND, address, data, std::move(options));
  }
  unsigned int debug(tlm::tlm_command command, std::uint64_t address, std::vector<std::uint8_t>& data) {
    tlm::tlm_generic_payload payload;
    fill(payload, command, address, data);
    return socket->transport_dbg(payload);
  }
  bool direct(std::uint64_t address, tlm::tlm_dmi& dmi) {
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    return socket->get_direct_mem_ptr(payload, dmi);
  }

 private:
  static void fill(tlm::tlm_generic_payload& payload, tlm::tlm_command command, std::uint64_t address,
                   std::vector<std::uint8_t>& data) {
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(static_cast<unsigned int>(data.size()));
    payload.set_streaming_width(static_cast<unsigned int>(data.size()));
  }
  void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) { invalidated.push_back({first, last}); }
};

// Fatal reports abort the process; a test that expects one wants to catch it as sc_core::sc_report.
inline void throw_on_fatal() {
  sc_core::sc_report_handler::set_actions(sc_core::SC_FATAL, sc_core::SC_THROW);
}

}  // namespace dvp::test
