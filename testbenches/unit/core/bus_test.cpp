#include "tlm/core/bus.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testbenches/lib/tlm_initiator.h"
#include "tlm/core/protocol_checker.h"

namespace dvp::core {
namespace {

using sc_core::sc_time;
using test::tlm_initiator;

constexpr std::uint64_t top = ~0ULL;

std::string refusal(std::vector<address_window> windows) {
  try {
    address_map map(std::move(windows));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(address_map, finds_the_window_that_holds_all_bytes) {
  const address_map map({{"high", top - 15, 16}, {"low", 0, 0x10}, {"next", 0x10, 0x10}, {"far", 0x1000, 1}});
  struct question {
    std::uint64_t address, bytes;
    const char* answer;
  };
  for (const question& q :
       {question{0, 1, "low"}, question{0xf, 1, "low"}, question{0, 0x10, "low"}, question{0xf, 2, ""},
        question{0x10, 0x10, "next"}, question{0x1f, 1, "next"}, question{0x20, 1, ""}, question{0x1000, 1, "far"},
        question{0x1000, 2, ""}, question{0xfff, 1, ""}, question{top, 1, "high"}, question{top, 2, ""},
        question{top - 15, 16, "high"}, question{top - 15, top, ""}, question{0, 0, ""}}) {
    const auto window = map.find(q.address, q.bytes);
    EXPECT_EQ(window ? map[*window].name : "", q.answer) << q.address << " + " << q.bytes;
  }
  EXPECT_FALSE(address_map({}).find(0, 1));
}

TEST(address_map, a_hole_reaches_from_window_to_window) {
  const address_map map({{"far", 0x1000, 1}, {"low", 0x10, 0x10}, {"next", 0x20, 0x10}});
  struct question {
    std::uint64_t address, first, last;
  };
  for (const question& q :
       {question{0, 0, 0xf}, question{0xf, 0, 0xf}, question{0x30, 0x30, 0xfff}, question{0x800, 0x30, 0xfff},
        question{0xfff, 0x30, 0xfff}, question{0x1001, 0x1001, top}, question{top, 0x1001, top}}) {
    const address_range hole = map.hole(q.address);
    EXPECT_EQ(hole.first, q.first) << q.address;
    EXPECT_EQ(hole.last, q.last) << q.address;
  }
  const address_range all = address_map({}).hole(5);
  EXPECT_EQ(all.first, 0U);
  EXPECT_EQ(all.last, top);
}

TEST(address_map, refuses_bad_maps_by_name) {
  EXPECT_EQ(refusal({{"a", 0x10, 0x10}, {"b", 0, 0x11}}), "windows 'b' [0x0, 0x10] and 'a' [0x10, 0x1f] overlap");
  EXPECT_EQ(refusal({{"a", 0, 0x100}, {"b", 0x10, 1}}), "windows 'a' [0x0, 0xff] and 'b' [0x10, 0x10] overlap");
  EXPECT_EQ(refusal({{"a", 0, 0}}), "window 'a' is empty");
  EXPECT_EQ(refusal({{"a", top, 2}}), "window 'a' ends above the 64-bit address space");
  EXPECT_EQ(refusal({{"a", 0, 1}, {"a", 1, 1}}), "two windows are named 'a'");
  EXPECT_EQ(refusal({{"a", 0, 1}, {"b", 1, 1}, {"c", top, 1}}), "accepted");
}

// Answers everything and remembers the address it saw.
class listener : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<listener> socket;
  std::uint64_t seen = 0;
  int accesses = 0;

  explicit listener(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &listener::b_transport);
    socket.register_transport_dbg(this, &listener::debug);
    socket.register_get_direct_mem_ptr(this, &listener::direct);
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    seen = payload.get_address();
    ++accesses;
    delay += sc_time(5, sc_core::SC_NS);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  unsigned int debug(tlm::tlm_generic_payload& payload) {
    seen = payload.get_address();
    return payload.get_data_length();
  }
  // Grants 0x20 to the end of the address space, more than any window shows.
  bool direct(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
    dmi.init();
    dmi.set_dmi_ptr(bytes_);
    dmi.set_start_address(0x20);
    dmi.allow_read_write();
    return true;
  }
  unsigned char bytes_[64] = {};
};

struct bench {
  tlm_initiator cpu{"cpu"}, npu{"npu"};
  bus wires{"wires", {{"ram", 0x1000, 0x100}, {"csr", 0x400, 0x40}}, 2, sc_time(3, sc_core::SC_NS)};
  protocol_checker check_ram{"check_ram"}, check_csr{"check_csr"};
  listener ram{"ram"}, csr{"csr"};

  bench() {
    cpu.socket.bind(wires.from_initiator(0));
    npu.socket.bind(wires.from_initiator(1));
    wires.to_target("ram").bind(check_ram.from_initiator);
    wires.to_target("csr").bind(check_csr.from_initiator);
    check_ram.to_target.bind(ram.socket);
    check_csr.to_target.bind(csr.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

TEST(bus, routes_translates_and_adds_latency) {
  bench b;
  const auto at_cpu = b.cpu.write(0x43c, {1, 2, 3, 4}, {.delay = sc_time(10, sc_core::SC_NS)});
  EXPECT_EQ(at_cpu.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(at_cpu.delay, sc_time(18, sc_core::SC_NS));
  EXPECT_EQ(b.csr.seen, 0x3cU);
  EXPECT_EQ(b.npu.write(0x10fc, {1, 2, 3, 4}).delay, sc_time(8, sc_core::SC_NS));
  EXPECT_EQ(b.ram.seen, 0xfcU);
  EXPECT_EQ(b.csr.accesses, 1);
  EXPECT_EQ(b.ram.accesses, 1);
  std::vector<std::uint8_t> data(16);
  EXPECT_EQ(b.npu.debug(tlm::TLM_READ_COMMAND, 0x1010, data), 16U);
  EXPECT_EQ(b.ram.seen, 0x10U);
  EXPECT_TRUE(b.check_ram.violations().empty());
  EXPECT_TRUE(b.check_csr.violations().empty());

  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_WRITE_COMMAND);
  payload.set_address(0x43c);
  payload.set_data_ptr(data.data());
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  sc_time delay;
  b.cpu.socket->b_transport(payload, delay);
  EXPECT_EQ(payload.get_address(), 0x43cU) << "the initiator's address came back changed";
}

TEST(bus, an_access_outside_or_across_is_an_address_error) {
  bench b;
  std::vector<std::uint8_t> data(8);
  for (const std::uint64_t address : {0x0ULL, 0x3fcULL, 0x43cULL, 0x440ULL, 0x10fcULL, 0x1100ULL, ~0ULL}) {
    const auto result = b.cpu.read(address, data, {.delay = sc_time(1, sc_core::SC_NS)});
    EXPECT_EQ(result.status, tlm::TLM_ADDRESS_ERROR_RESPONSE) << std::hex << address;
    EXPECT_EQ(result.delay, sc_time(1, sc_core::SC_NS)) << std::hex << address;
    EXPECT_EQ(b.cpu.debug(tlm::TLM_READ_COMMAND, address, data), 0U) << std::hex << address;
  }
  EXPECT_EQ(b.wires.unmapped(), 7U);
  EXPECT_EQ(b.ram.accesses + b.csr.accesses, 0);
  EXPECT_EQ(b.cpu.read(0x43c, data, {.streaming_width = 4}).status, tlm::TLM_OK_RESPONSE)
      << "streamed data stays inside the window";
}

TEST(bus, direct_access_is_clipped_to_the_window_and_taken_back_at_its_addresses) {
  bench b;
  tlm::tlm_dmi dmi;
  EXPECT_TRUE(b.cpu.direct(0x1030, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0x1020U);
  EXPECT_EQ(dmi.get_end_address(), 0x10ffU);
  EXPECT_EQ(dmi.get_read_latency(), sc_time(3, sc_core::SC_NS));
  EXPECT_FALSE(b.cpu.direct(0x2000, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0x1100U) << "the whole hole is refused at once";
  EXPECT_EQ(dmi.get_end_address(), top);
  EXPECT_FALSE(b.cpu.direct(0x500, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0x440U);
  EXPECT_EQ(dmi.get_end_address(), 0xfffU);

  b.ram.socket->invalidate_direct_mem_ptr(0x10, 0xfff);
  b.ram.socket->invalidate_direct_mem_ptr(0x100, 0xfff);
  for (const tlm_initiator* initiator : {&b.cpu, &b.npu}) {
    ASSERT_EQ(initiator->invalidated.size(), 1U);
    EXPECT_EQ(initiator->invalidated[0].first, 0x1010U);
    EXPECT_EQ(initiator->invalidated[0].last, 0x10ffU);
  }
}

// Takes a request, answers when told to.
class late_target : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<late_target> socket{"socket"};
  std::vector<tlm::tlm_generic_payload*> requests;

  explicit late_target(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_fw(this, &late_target::nb_transport_fw);
  }
  void answer(std::size_t request) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay;
    requests[request]->set_response_status(tlm::TLM_OK_RESPONSE);
    socket->nb_transport_bw(*requests[request], phase, delay);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME) << "the bus holds up the next response";
  }

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time&) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    requests.push_back(&payload);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
};

// Keeps its payloads and ends a response in the call or with a phase of its own.
class non_blocking_initiator : public sc_core::sc_module, public tlm::tlm_mm_interface {
 public:
  tlm_utils::simple_initiator_socket<non_blocking_initiator> socket{"socket"};
  bool completes_in_call = true;
  std::vector<const tlm::tlm_generic_payload*> answered;
  sc_time response_delay;
  int freed = 0;

  explicit non_blocking_initiator(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_nb_transport_bw(this, &non_blocking_initiator::nb_transport_bw);
  }
  tlm::tlm_sync_enum begin(tlm::tlm_generic_payload& payload, std::uint64_t address, sc_time& delay) {
    payload.set_mm(this);
    payload.acquire();
    payload.set_address(address);
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    return socket->nb_transport_fw(payload, phase, delay);
  }
  void end(tlm::tlm_generic_payload& payload) {
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_time delay;
    socket->nb_transport_fw(payload, phase, delay);
  }
  void free(tlm::tlm_generic_payload*) override { ++freed; }

 private:
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&, sc_time& delay) {
    response_delay = delay;
    answered.push_back(&payload);
    return completes_in_call ? tlm::TLM_COMPLETED : tlm::TLM_ACCEPTED;
  }
};

TEST(bus, non_blocking_accesses_come_back_in_any_order_with_their_own_address) {
  non_blocking_initiator cpu("cpu"), npu("npu");
  bus wires("wires", {{"ram", 0x1000, 0x100}}, 2, sc_time(3, sc_core::SC_NS));
  late_target ram("ram");
  cpu.socket.bind(wires.from_initiator(0));
  npu.socket.bind(wires.from_initiator(1));
  wires.to_target("ram").bind(ram.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  npu.completes_in_call = false;
  tlm::tlm_generic_payload first, second, lost;
  sc_time delay(1, sc_core::SC_NS);
  EXPECT_EQ(cpu.begin(first, 0x1010, delay), tlm::TLM_UPDATED);
  EXPECT_EQ(delay, sc_time(1, sc_core::SC_NS)) << "the way is on the response";
  EXPECT_EQ(npu.begin(second, 0x1020, delay), tlm::TLM_UPDATED);
  ASSERT_EQ(ram.requests.size(), 2U);
  EXPECT_EQ(ram.requests[0]->get_address(), 0x10U);
  EXPECT_EQ(ram.requests[1]->get_address(), 0x20U);
  ram.answer(1);
  EXPECT_EQ(npu.answered, std::vector<const tlm::tlm_generic_payload*>{&second});
  EXPECT_EQ(second.get_address(), 0x20U) << "the target's until END_RESP";
  ram.answer(0);
  EXPECT_EQ(cpu.answered, std::vector<const tlm::tlm_generic_payload*>{&first});
  EXPECT_EQ(cpu.response_delay, sc_time(3, sc_core::SC_NS));
  EXPECT_EQ(first.get_address(), 0x1010U);
  npu.end(second);
  EXPECT_EQ(second.get_address(), 0x1020U);
  EXPECT_EQ(npu.begin(lost, 0x10fe, delay), tlm::TLM_COMPLETED);
  EXPECT_EQ(lost.get_response_status(), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(wires.unmapped(), 1U);
  for (tlm::tlm_generic_payload* payload : {&first, &second, &lost}) payload->release();
  EXPECT_EQ(cpu.freed, 1) << "the bus kept a hold";
  EXPECT_EQ(npu.freed, 2) << "the bus kept a hold";
}

TEST(bus, overlap_is_fatal_and_names_bus_and_windows) {
  test::throw_on_fatal();
  try {
    bus wires("wires", {{"ram", 0, 0x100}, {"csr", 0xff, 1}}, 1, sc_core::SC_ZERO_TIME);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "wires: windows 'ram' [0x0, 0xff] and 'csr' [0xff, 0xff] overlap");
    EXPECT_EQ(report.get_severity(), sc_core::SC_FATAL);
  }
}

}  // namespace
}  // namespace dvp::core
