// Every rule of the checker: broken once and reported once; a clean access reports nothing.
#include "tlm/core/protocol_checker.h"

#include <gtest/gtest.h>

#include <functional>

#include "tlm/core/access_tag.h"

namespace dvp::core {
namespace {

using sc_core::sc_time;

class scripted_target : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<scripted_target> socket;
  std::function<void(tlm::tlm_generic_payload&, sc_time&)> act;
  unsigned int debug_count = 0;
  std::uint64_t grant_first = 0;

  explicit scripted_target(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &scripted_target::b_transport);
    socket.register_transport_dbg(this, &scripted_target::debug);
    socket.register_get_direct_mem_ptr(this, &scripted_target::direct);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (act) act(payload, delay);
  }
  unsigned int debug(tlm::tlm_generic_payload&) { return debug_count; }
  bool direct(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.init();
    dmi.set_dmi_ptr(byte_);
    dmi.set_start_address(grant_first);
    dmi.set_end_address(grant_first + 3);
    return true;
  }
  unsigned char byte_[4] = {};
};

struct bench : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<bench> socket{"socket"};
  protocol_checker checker{"checker"};
  scripted_target target{"target"};
  unsigned char data[8] = {};
  unsigned char enables[1] = {0xff};
  access_tag tag{gen::precision::q8, gen::purpose::weights, 8};

  explicit bench(const sc_core::sc_module_name& name) : sc_module(name) {
    sc_core::sc_report_handler::set_actions("/dvp/protocol", sc_core::SC_DO_NOTHING);
    socket.bind(checker.from_initiator);
    checker.to_target.bind(target.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  // The sentences of one access, which `spoil` may have made illegal before it starts.
  std::vector<std::string> access(const std::function<void(tlm::tlm_generic_payload&)>& spoil = {}) {
    const std::size_t before = checker.violations().size();
    tlm::tlm_generic_payload payload;
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_data_ptr(data);
    payload.set_data_length(sizeof data);
    payload.set_streaming_width(sizeof data);
    payload.set_extension(&tag);
    if (spoil) spoil(payload);
    sc_time delay(10, sc_core::SC_NS);
    socket->b_transport(payload, delay);
    payload.clear_extension<access_tag>();
    return {checker.violations().begin() + static_cast<std::ptrdiff_t>(before), checker.violations().end()};
  }
};

TEST(protocol_checker, each_broken_rule_is_one_sentence) {
  bench b("bench");
  using payload_t = tlm::tlm_generic_payload;
  EXPECT_TRUE(b.access().empty());

  const std::vector<std::function<void(payload_t&)>> initiator_faults = {
      [](payload_t& p) { p.set_data_length(0); },
      [](payload_t& p) { p.set_data_ptr(nullptr); },
      [](payload_t& p) { p.set_streaming_width(0); },
      [&](payload_t& p) { p.set_byte_enable_ptr(b.enables); },
      [](payload_t& p) { p.set_response_status(tlm::TLM_OK_RESPONSE); },
      [](payload_t& p) { p.set_dmi_allowed(true); },
  };
  for (std::size_t i = 0; i < initiator_faults.size(); ++i) {
    EXPECT_EQ(b.access(initiator_faults[i]).size(), 1U) << "initiator fault " << i;
  }

  access_tag other = b.tag;
  const std::vector<std::function<void(payload_t&, sc_time&)>> target_faults = {
      [](payload_t& p, sc_time&) { p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE); },
      [](payload_t& p, sc_time&) { p.set_data_length(4); },
      [](payload_t& p, sc_time&) { p.set_command(tlm::TLM_WRITE_COMMAND); },
      [&](payload_t& p, sc_time&) { p.set_extension(&other); },
      [](payload_t& p, sc_time&) { p.get_extension<access_tag>()->elements = 1; },
      [](payload_t&, sc_time& delay) { delay = sc_time(9, sc_core::SC_NS); },
  };
  for (std::size_t i = 0; i < target_faults.size(); ++i) {
    b.target.act = target_faults[i];
    const auto sentences = b.access();
    EXPECT_EQ(sentences.size(), 1U) << "target fault " << i;
    b.tag.elements = 8;
  }
  b.target.act = [](payload_t& p, sc_time& delay) {
    p.set_address(77);
    p.set_dmi_allowed(true);
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    delay += sc_time(1, sc_core::SC_NS);
  };
  EXPECT_TRUE(b.access().empty()) << "what a target may do was reported";
  EXPECT_EQ(b.checker.violations().at(0), "bench.checker at 0 s: data length is 0");
}

TEST(protocol_checker, debug_and_direct_access) {
  bench b("bench");
  tlm::tlm_generic_payload payload;
  payload.set_data_ptr(b.data);
  payload.set_data_length(8);
  b.target.debug_count = 8;
  b.socket->transport_dbg(payload);
  payload.set_address(3);
  tlm::tlm_dmi dmi;
  b.socket->get_direct_mem_ptr(payload, dmi);
  EXPECT_TRUE(b.checker.violations().empty());
  b.target.debug_count = 9;
  b.socket->transport_dbg(payload);
  EXPECT_EQ(b.checker.violations().size(), 1U);
  b.target.grant_first = 4;
  b.socket->get_direct_mem_ptr(payload, dmi);
  EXPECT_EQ(b.checker.violations().size(), 2U);
}

}  // namespace
}  // namespace dvp::core
