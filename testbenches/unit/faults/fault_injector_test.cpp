// The injector between an initiator and a memory, over both transports, with a protocol checker on either side.
#include "tlm/faults/fault_injector.h"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <random>

#include "testbenches/lib/nb_initiator.h"
#include "testbenches/lib/tlm_initiator.h"
#include "tlm/core/access_tag.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/faults/interrupt_gate.h"

namespace dvp::faults {
namespace {

using sc_core::sc_time;
using test::nb_access;

const sc_time ns(1, sc_core::SC_NS);
constexpr std::uint64_t bytes = 256;

// Answers 50 ns after the request, one response at a time, in order.
class memory_target : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<memory_target> socket;
  unsigned char data[bytes] = {};
  int accesses = 0;
  tlm::tlm_response_status answer = tlm::TLM_OK_RESPONSE;

  explicit memory_target(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &memory_target::b_transport);
    socket.register_nb_transport_fw(this, &memory_target::nb_transport_fw);
    socket.register_transport_dbg(this, &memory_target::debug);
    SC_HAS_PROCESS(memory_target);
    SC_METHOD(respond);
    sensitive << due_;
    dont_initialize();
  }

 private:
  void serve(tlm::tlm_generic_payload& p) {
    ++accesses;
    p.set_response_status(answer);
    if (answer != tlm::TLM_OK_RESPONSE) return;
    unsigned char* at = data + p.get_address();
    p.is_read() ? std::memcpy(p.get_data_ptr(), at, p.get_data_length())
                : std::memcpy(at, p.get_data_ptr(), p.get_data_length());
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_time& delay) {
    serve(p);
    delay += 50 * ns;
  }
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase == tlm::END_RESP) {
      free_from_ = sc_core::sc_time_stamp() + delay;
      p.release();
      schedule();
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    serve(p);
    waiting_.push_back({&p, sc_core::sc_time_stamp() + delay + 50 * ns});
    schedule();
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  unsigned int debug(tlm::tlm_generic_payload& p) {
    std::memcpy(p.get_data_ptr(), data + p.get_address(), p.get_data_length());
    return p.get_data_length();
  }
  void schedule() {
    if (!waiting_.empty()) due_.notify(std::max(waiting_.front().at, free_from_) - sc_core::sc_time_stamp());
  }
  void respond() {
    tlm::tlm_generic_payload& p = *waiting_.front().payload;
    waiting_.pop_front();
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay = sc_core::SC_ZERO_TIME;
    if (socket->nb_transport_bw(p, phase, delay) == tlm::TLM_ACCEPTED) return;
    free_from_ = sc_core::sc_time_stamp() + delay;
    p.release();
    schedule();
  }

  struct response {
    tlm::tlm_generic_payload* payload;
    sc_time at;
  };
  std::deque<response> waiting_;
  sc_time free_from_;
  sc_core::sc_event due_;
};

fault_plan plan_of(std::vector<fault> program) {
  fault_plan plan;
  plan.program = std::move(program);
  plan.correction_ps = 7000;
  return plan;
}

template <class Initiator>
struct bench : sc_core::sc_module {
  core::statistics figures;
  core::timeline timeline;
  Initiator initiator{"initiator"};
  core::protocol_checker above{"above"}, below{"below"};
  fault_injector injector;
  memory_target memory{"memory"};

  bench(const sc_core::sc_module_name& name, std::vector<fault> program)
      : sc_module(name), injector("injector", plan_of(std::move(program)), figures, timeline) {
    initiator.socket.bind(above.from_initiator);
    above.to_target.bind(injector.from_initiator);
    injector.to_target.bind(below.from_initiator);
    below.to_target.bind(memory.socket);
    for (std::size_t i = 0; i < bytes; ++i) memory.data[i] = static_cast<unsigned char>(3 * i);
  }
  std::uint64_t injected(const std::string& kind) { return figures.count_of("faults.injected." + kind); }
};

core::access_tag tag(gen::purpose purpose) {
  return {gen::precision::raw, purpose, 0};
}

std::vector<std::uint8_t> stored(const memory_target& memory, std::uint64_t address, std::size_t count) {
  return {memory.data + address, memory.data + address + count};
}

TEST(fault_injector, idle_it_changes_neither_bytes_nor_times) {
  bench<test::tlm_initiator> b("bench", {{fault_kind::lost_interrupt, event_class::interrupt, 1}});
  memory_target twin("twin");
  test::tlm_initiator direct("direct");
  direct.socket.bind(twin.socket);
  std::memcpy(twin.data, b.memory.data, bytes);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    const std::uint64_t address = random() % 200;
    std::vector<std::uint8_t> one(1 + random() % 50);
    for (auto& byte : one) byte = static_cast<std::uint8_t>(random());
    std::vector<std::uint8_t> other = one;
    core::access_tag which = tag(random() % 2 != 0 ? gen::purpose::commands : gen::purpose::weights);
    test::access_options options;
    options.delay = static_cast<double>(random() % 100) * ns;
    options.tag = &which;
    const auto command = random() % 2 != 0 ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND;
    const test::outcome through = b.initiator.access(command, address, one, options);
    const test::outcome past = direct.access(command, address, other, options);
    ASSERT_EQ(through.delay, past.delay);
    ASSERT_EQ(through.status, past.status);
    ASSERT_EQ(one, other);
  }
  EXPECT_EQ(std::memcmp(twin.data, b.memory.data, bytes), 0);
  std::vector<std::uint8_t> seen(8);
  EXPECT_EQ(b.initiator.debug(tlm::TLM_READ_COMMAND, 16, seen), 8U);
  EXPECT_EQ(seen, stored(b.memory, 16, 8));
  EXPECT_TRUE(b.above.violations().empty() && b.below.violations().empty());
}

TEST(fault_injector, every_kind_over_the_blocking_transport) {
  constexpr auto read = event_class::read;
  bench<test::tlm_initiator> b("bench", {{fault_kind::bus_error, read, 1},
                                         {fault_kind::ecc_corrected, read, 2},
                                         {fault_kind::ecc_uncorrectable, read, 3},
                                         {fault_kind::ecc_silent, read, 4, 0, {1, 0x0301}},
                                         {fault_kind::stuck, read, 5},
                                         {fault_kind::ecc_silent, read, 6},
                                         {fault_kind::record, event_class::record, 1, 0, {2, 0xff}},
                                         {fault_kind::descriptor, event_class::fetch, 1, 0, {5, 0x80}}});
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  std::vector<std::uint8_t> data;
  const auto access = [&](std::uint64_t address) {
    data.assign(8, 0xee);
    return b.initiator.read(address, data);
  };
  const std::vector<std::uint8_t> right = stored(b.memory, 32, 8), untouched(8, 0xee);

  test::outcome o = access(32);
  EXPECT_EQ(o.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(o.delay, sc_core::SC_ZERO_TIME);
  EXPECT_EQ(data, untouched);
  EXPECT_EQ(b.memory.accesses, 0);

  o = access(32);
  EXPECT_EQ(o.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(o.delay, 57 * ns);
  EXPECT_EQ(data, right);

  EXPECT_EQ(access(32).status, tlm::TLM_GENERIC_ERROR_RESPONSE);

  o = access(32);
  EXPECT_EQ(o.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(o.delay, 50 * ns);
  std::vector<std::uint8_t> wrong = right;
  wrong[1] ^= 1;
  wrong[2] ^= 3;
  EXPECT_EQ(data, wrong);
  EXPECT_EQ(stored(b.memory, 32, 8), right) << "memory keeps its bytes";

  o = access(32);
  EXPECT_EQ(o.delay, 50 * ns + sc_time(86400, sc_core::SC_SEC));
  EXPECT_EQ(data, right);

  b.memory.answer = tlm::TLM_COMMAND_ERROR_RESPONSE;
  EXPECT_EQ(access(32).status, tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(data, untouched) << "no data, nothing to invert";
  b.memory.answer = tlm::TLM_OK_RESPONSE;

  core::access_tag command = tag(gen::purpose::commands);
  test::access_options options;
  options.tag = &command;
  std::vector<std::uint8_t> mine = {1, 2, 3, 4};
  EXPECT_EQ(b.initiator.access(tlm::TLM_WRITE_COMMAND, 64, mine, options).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(mine, (std::vector<std::uint8_t>{1, 2, 3, 4})) << "the initiator's";
  EXPECT_EQ(stored(b.memory, 64, 4), (std::vector<std::uint8_t>{1, 2, 0xfc, 4}));

  std::vector<std::uint8_t> line(64);
  EXPECT_EQ(b.initiator.read(0, line, options).status, tlm::TLM_OK_RESPONSE);
  std::vector<std::uint8_t> damaged = stored(b.memory, 0, 64);
  damaged[5] ^= 0x80;
  EXPECT_EQ(line, damaged);

  EXPECT_EQ(b.injected("ecc_silent"), 2U);
  for (const char* kind : {"bus_error", "ecc_corrected", "ecc_uncorrectable", "stuck", "record", "descriptor"}) {
    EXPECT_EQ(b.injected(kind), 1U) << kind;
  }
  EXPECT_TRUE(b.above.violations().empty() && b.below.violations().empty());
}

TEST(fault_injector, every_kind_over_the_non_blocking_transport) {
  constexpr auto read = event_class::read;
  bench<test::nb_initiator> b("bench", {{fault_kind::bus_error, read, 1},
                                        {fault_kind::ecc_corrected, read, 2},
                                        {fault_kind::ecc_uncorrectable, read, 3},
                                        {fault_kind::ecc_silent, read, 4, 0, {1, 0x0301}},
                                        {fault_kind::stuck, read, 5},
                                        {fault_kind::record, event_class::record, 1, 0, {2, 0xff}}});
  const std::vector<std::uint8_t> right = stored(b.memory, 32, 8), untouched(8, 0xee);
  std::deque<nb_access> all;
  for (int i = 0; i < 6; ++i) {
    all.emplace_back();
    all.back().address = 32;
    all.back().data = untouched;
  }
  nb_access record;
  record.command = tlm::TLM_WRITE_COMMAND;
  record.address = 64;
  record.data = {1, 2, 3, 4};
  record.tag = tag(gen::purpose::commands);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  const sc_time begin = sc_core::sc_time_stamp();
  for (nb_access& a : all) b.initiator.send(a);
  b.initiator.send(record);
  sc_core::sc_start(sc_time(1, sc_core::SC_US));

  EXPECT_EQ(all[0].status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_TRUE(all[0].completed_early);
  EXPECT_EQ(all[0].data, untouched);
  EXPECT_EQ(all[1].status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(all[1].responded, begin + 57 * ns);
  EXPECT_EQ(all[1].data, right);
  EXPECT_EQ(all[2].status, tlm::TLM_GENERIC_ERROR_RESPONSE);
  EXPECT_EQ(all[3].status, tlm::TLM_OK_RESPONSE);
  std::vector<std::uint8_t> wrong = right;
  wrong[1] ^= 1;
  wrong[2] ^= 3;
  EXPECT_EQ(all[3].data, wrong);
  EXPECT_FALSE(all[4].done) << "never answered";
  EXPECT_EQ(all[5].data, right) << "those behind it pass";
  EXPECT_EQ(record.status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(record.data, (std::vector<std::uint8_t>{1, 2, 3, 4}));
  EXPECT_EQ(stored(b.memory, 64, 4), (std::vector<std::uint8_t>{1, 2, 0xfc, 4}));
  EXPECT_EQ(b.memory.accesses, 5);
  EXPECT_EQ(b.initiator.payloads_out(), 1U);
  EXPECT_EQ(b.below.under_way(), 0U);
  EXPECT_TRUE(b.above.violations().empty() && b.below.violations().empty());
}

TEST(interrupt_gate, a_lost_rise_keeps_the_line_low_until_the_next) {
  bench<test::tlm_initiator> b("bench", {{fault_kind::lost_interrupt, event_class::interrupt, 2}});
  interrupt_gate gate("gate", b.injector);
  sc_core::sc_signal<bool> in("in"), out("out");
  gate.from_block.bind(in);
  gate.to_controller.bind(out);
  std::string levels;
  for (const bool level : {false, true, false, true, false, true, true, false}) {
    in.write(level);
    sc_core::sc_start(1 * ns);
    levels += out.read() ? '1' : '0';
  }
  EXPECT_EQ(levels, "01000110");
  EXPECT_EQ(b.injected("lost_interrupt"), 1U);
}

}  // namespace
}  // namespace dvp::faults
