// What an access does to bytes and how it is answered, by each interface.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "testbenches/lib/nb_initiator.h"
#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "testbenches/lib/tlm_initiator.h"
#include "testbenches/unit/lpddr5/controller/bench.h"
#include "tlm/core/protocol_checker.h"

namespace dvp::lpddr5::test {
namespace {

using core::access_tag;
using dvp::test::nb_access;
using gen::precision;
using gen::purpose;
using numerics::view_mode;
using bytes = std::vector<std::uint8_t>;

struct bench {
  core::statistics figures;
  core::timeline timeline;
  controller memory;
  dvp::test::tlm_initiator blocking{"blocking"};
  dvp::test::nb_initiator initiator{"initiator"};
  core::protocol_checker blocking_checker{"blocking_checker"};
  core::protocol_checker checker{"checker"};

  explicit bench(const memory_shape& shape = {}, const controller_options& options = {})
      : memory("memory", make_memory(shape), figures, timeline, options) {
    blocking.socket.bind(blocking_checker.from_initiator);
    blocking_checker.to_target.bind(memory.socket);
    initiator.socket.bind(checker.from_initiator);
    checker.to_target.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ~bench() {
    EXPECT_EQ(blocking_checker.violations(), clean);
    EXPECT_EQ(checker.violations(), clean);
    EXPECT_EQ(checker.under_way(), 0U);
    EXPECT_EQ(memory.under_way(), 0U);
  }

  // The same access by the non-blocking interface, to its end.
  tlm::tlm_response_status run(nb_access& a) {
    const sc_core::sc_time from = *initiator.free_from();
    if (from > sc_core::sc_time_stamp()) sc_core::sc_start(from - sc_core::sc_time_stamp());
    initiator.send(a);
    sc_core::sc_start();
    EXPECT_TRUE(a.done);
    return a.status;
  }

  static inline const std::vector<std::string> clean{};
};

TEST(controller_access, every_interface_sees_the_same_bytes) {
  bench b({.channels = 2});
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(b.blocking.direct(1000, dmi));
  EXPECT_EQ(dmi.get_start_address(), 0U);
  EXPECT_EQ(dmi.get_end_address(), b.memory.bytes() - 1);
  EXPECT_TRUE(dmi.is_read_write_allowed());
  EXPECT_EQ(dmi.get_read_latency(), ck(17 + 2));

  std::mt19937 random(7);
  bytes model(512, 0);
  constexpr std::uint64_t base = 0x12345;
  for (int step = 0; step < 3000; ++step) {
    const std::size_t length = 1 + random() % 70;
    const std::size_t at = random() % (model.size() - length);
    bytes data(length);
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    const bool write = random() % 2 == 0;
    bytes expected = data;
    if (write) {
      std::copy(data.begin(), data.end(), model.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(at), length, expected.begin());
    }
    const auto command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    switch (random() % 4) {
      case 0:
        ASSERT_EQ(b.blocking.access(command, base + at, data).status, tlm::TLM_OK_RESPONSE);
        break;
      case 1:
        ASSERT_EQ(b.blocking.debug(command, base + at, data), length);
        break;
      case 2:
        write ? std::memcpy(dmi.get_dmi_ptr() + base + at, data.data(), length)
              : std::memcpy(data.data(), dmi.get_dmi_ptr() + base + at, length);
        break;
      default: {
        nb_access a;
        a.command = command;
        a.address = base + at;
        a.data = data;
        ASSERT_EQ(b.run(a), tlm::TLM_OK_RESPONSE);
        data = a.data;
      }
    }
    ASSERT_EQ(data, expected) << "step " << step;
  }
  EXPECT_EQ(bytes(b.memory.data() + base, b.memory.data() + base + model.size()), model);
}

TEST(controller_access, direct_memory_can_be_switched_off) {
  bench b({}, {.direct_memory = false});
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(b.blocking.direct(0, dmi));
  bytes data(4);
  EXPECT_FALSE(b.blocking.read(0, data).dmi_hint);
}

TEST(controller_access, every_refusal_is_a_response_code_and_changes_nothing) {
  bench b;
  const std::uint64_t end = b.memory.bytes();
  ASSERT_TRUE(b.memory.set_view(7, {4, view_mode::round}));
  struct row {
    const char* what;
    std::uint64_t address;
    std::size_t length;
    std::optional<access_tag> tag;
    std::uint32_t width;
    bytes enables;
    tlm::tlm_response_status expected;
  };
  const access_tag q4(precision::q4, purpose::weights, 8), q2(precision::q2, purpose::weights, 8);
  const row rows[] = {
      {"past the end", end - 3, 4, {}, 0, {}, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"far outside", ~std::uint64_t{0} - 1, 4, {}, 0, {}, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"elements past the end", end - 7, 4, q4, 0, {}, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"q0 past the end",
       end - 7,
       4,
       access_tag(precision::q0, purpose::weights, 8),
       0,
       {},
       tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"q4 too long", 0, 5, q4, 0, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"q4 too short", 0, 3, q4, 0, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"q2 of q4's length", 0, 4, q2, 0, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"streaming q4", 0, 4, q4, 2, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"enables on q4", 0, 4, q4, 0, {0xff}, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE},
      {"unknown view", 0, 4, access_tag(precision::q4, purpose::weights, 8, 3), 0, {}, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"view of q4", 0, 2, access_tag(precision::q2, purpose::weights, 8, 7), 0, {}, tlm::TLM_COMMAND_ERROR_RESPONSE},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    nb_access a;
    a.address = r.address;
    a.data.assign(r.length, 0x5a);
    a.enables = r.enables;
    a.streaming_width = r.width;
    a.tag = r.tag;
    EXPECT_EQ(b.run(a), r.expected);
    EXPECT_TRUE(a.completed_early);
    EXPECT_EQ(a.responded, a.arrival);
    EXPECT_EQ(a.data, bytes(r.length, 0x5a));

    bytes data(r.length, 0x5a);
    access_tag tag = r.tag.value_or(access_tag());
    const sc_core::sc_time delay(7, sc_core::SC_NS);
    const auto result = b.blocking.read(
        r.address, data,
        {.delay = delay, .enables = r.enables, .streaming_width = r.width, .tag = r.tag ? &tag : nullptr});
    EXPECT_EQ(result.status, r.expected);
    EXPECT_EQ(result.delay, delay);
    EXPECT_EQ(data, bytes(r.length, 0x5a));
  }
  // Announced with a delay: refused when it arrives.
  nb_access late;
  late.address = end;
  late.data.resize(1);
  b.initiator.send(late, sc_core::sc_time(50, sc_core::SC_NS));
  sc_core::sc_start();
  EXPECT_EQ(late.status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(late.responded, late.arrival);

  bytes far(4);
  EXPECT_EQ(b.blocking.debug(tlm::TLM_READ_COMMAND, end - 3, far), 0U);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(b.blocking.direct(end, dmi));
  EXPECT_EQ(b.figures.count_of("memory.accesses"), 0U);
}

TEST(controller_access, what_the_checker_calls_illegal_is_refused_too) {
  controller memory("memory", make_memory());
  dvp::test::tlm_initiator blocking("blocking");
  blocking.socket.bind(memory.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  bytes none;
  EXPECT_EQ(blocking.read(0, none).status, tlm::TLM_BURST_ERROR_RESPONSE);
  tlm::tlm_generic_payload payload;
  bytes data(4), enables(1);
  payload.set_data_ptr(data.data());
  payload.set_data_length(4);
  payload.set_streaming_width(4);
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_byte_enable_ptr(enables.data());
  payload.set_byte_enable_length(0);
  sc_core::sc_time delay;
  blocking.socket->b_transport(payload, delay);
  EXPECT_EQ(payload.get_response_status(), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
}

// A payload with four bytes of data, by both interfaces; what it is answered.
class bare_access {
 public:
  tlm::tlm_generic_payload payload;
  bytes data{1, 2, 3, 4};

  bare_access() : memory_("memory", make_memory()), initiator_("initiator") {
    initiator_.socket.bind(memory_.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_TRUE(memory_.set_view(7, {4, view_mode::round}));
    payload.set_data_ptr(data.data());
    payload.set_data_length(4);
    payload.set_streaming_width(4);
  }
  ~bare_access() {
    payload.clear_extension<access_tag>();
    EXPECT_EQ(memory_.under_way(), 0U);
  }

  void expect(tlm::tlm_command command, tlm::tlm_response_status status) {
    payload.set_command(command);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    sc_core::sc_time delay;
    initiator_.socket->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), status);
    if (status == tlm::TLM_OK_RESPONSE) return;
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
    payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    EXPECT_EQ(initiator_.socket->nb_transport_fw(payload, phase, delay), tlm::TLM_COMPLETED);
    EXPECT_EQ(payload.get_response_status(), status);
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME);
  }
  unsigned int debug(tlm::tlm_command command) {
    payload.set_command(command);
    return initiator_.socket->transport_dbg(payload);
  }
  const std::uint8_t* stored() { return memory_.data(); }

 private:
  controller memory_;
  dvp::test::tlm_initiator initiator_;
};

TEST(controller_access, no_data_pointer_is_refused_by_every_interface) {
  bare_access a;
  access_tag tag(precision::q4, purpose::weights, 8, 7);
  a.payload.set_data_ptr(nullptr);
  for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    a.expect(command, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(a.debug(command), 0U);
  }
  a.payload.set_extension(&tag);
  a.expect(tlm::TLM_READ_COMMAND, tlm::TLM_GENERIC_ERROR_RESPONSE);
  a.expect(tlm::TLM_IGNORE_COMMAND, tlm::TLM_OK_RESPONSE);
  access_tag skipped(precision::q0, purpose::weights, 8, 0);
  a.payload.set_extension(&skipped);
  a.expect(tlm::TLM_READ_COMMAND, tlm::TLM_OK_RESPONSE);
}

TEST(controller_access, byte_enables_are_0x00_or_0xff) {
  bare_access a;
  bytes enables{0xff, 0x00, 0x01};
  a.payload.set_byte_enable_ptr(enables.data());
  a.payload.set_byte_enable_length(3);
  for (const auto command : {tlm::TLM_READ_COMMAND, tlm::TLM_WRITE_COMMAND}) {
    a.expect(command, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  }
  EXPECT_EQ(bytes(a.stored(), a.stored() + 4), bytes(4));
  EXPECT_EQ(a.data, (bytes{1, 2, 3, 4}));
  enables[2] = 0xff;
  a.expect(tlm::TLM_WRITE_COMMAND, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(bytes(a.stored(), a.stored() + 4), (bytes{1, 0, 3, 4}));
}

// The definition of the views with exact binary fractions, as in the converter's own test.
int oracle_code(int q, int bits, view_mode mode) {
  const double step = bits == 4 ? 16 : 64;
  const double lowest = bits == 4 ? -8 : -2;
  if (mode == view_mode::midpoint) return static_cast<int>(std::floor(q / step));
  return static_cast<int>(std::fmin(std::fmax(std::nearbyint(q / step), lowest), -lowest - 1));
}

bytes oracle_delivered(const std::uint8_t* stored, std::size_t elements, int bits, view_mode mode) {
  bytes delivered((elements * static_cast<std::size_t>(bits) + 7) / 8, 0);
  for (std::size_t i = 0; i < elements; ++i) {
    const int code = oracle_code(static_cast<std::int8_t>(stored[i]), bits, mode);
    for (std::size_t b = 0; b < static_cast<std::size_t>(bits); ++b) {
      const std::size_t place = i * static_cast<std::size_t>(bits) + b;
      if ((code >> b & 1) != 0)
        delivered[place / 8] = static_cast<std::uint8_t>(delivered[place / 8] | 1U << place % 8);
    }
  }
  return delivered;
}

TEST(controller_access, tagged_reads_deliver_converted_codes) {
  bench b({.channels = 2});
  ASSERT_TRUE(b.memory.set_view(1, {4, view_mode::round}));
  ASSERT_TRUE(b.memory.set_view(2, {2, view_mode::round}));
  EXPECT_FALSE(b.memory.set_view(0, {4, view_mode::round}));
  EXPECT_FALSE(b.memory.set_view(3, {8, view_mode::round}));
  EXPECT_FALSE(b.memory.set_view(3, {4, view_mode::fitted, 128}));
  std::mt19937 random(9);
  for (std::uint64_t i = 0; i < 4096; ++i) b.memory.data()[i] = static_cast<std::uint8_t>(random());
  std::uint64_t elements_of_q4 = 0, reads_of_q2 = 0;
  for (int step = 0; step < 2000; ++step) {
    const int bits = random() % 2 == 0 ? 4 : 2;
    const bool rounds = random() % 2 == 0;
    const auto elements = static_cast<std::uint32_t>(1 + random() % 300);
    const std::uint64_t address = random() % (4096 - elements);
    const auto view = static_cast<std::uint16_t>(!rounds ? 0 : bits == 4 ? 1 : 2);
    access_tag tag(bits == 4 ? precision::q4 : precision::q2, purpose::weights, elements, view);
    const bytes expected =
        oracle_delivered(b.memory.data() + address, elements, bits, rounds ? view_mode::round : view_mode::midpoint);
    bytes data(expected.size(), 0xee);
    if (random() % 2 == 0) {
      const auto result = b.blocking.read(address, data, {.tag = &tag});
      ASSERT_EQ(result.status, tlm::TLM_OK_RESPONSE);
      EXPECT_FALSE(result.dmi_hint) << "DMI would not convert";
    } else {
      nb_access a;
      a.address = address;
      a.data = data;
      a.tag = tag;
      ASSERT_EQ(b.run(a), tlm::TLM_OK_RESPONSE);
      data = a.data;
    }
    ASSERT_EQ(data, expected) << "step " << step << " bits " << bits << " elements " << elements;
    elements_of_q4 += bits == 4 ? elements : 0;
    reads_of_q2 += bits == 2 ? 1 : 0;
  }
  b.memory.update_figures();
  EXPECT_EQ(b.figures.count_of("memory.precision.q4.elements"), elements_of_q4);
  EXPECT_EQ(b.figures.count_of("memory.precision.q4.delivered_bits"), 4 * elements_of_q4);
  EXPECT_EQ(b.figures.count_of("memory.precision.q2.reads"), reads_of_q2);
}

TEST(controller_access, writes_and_other_precisions_move_plain_bytes) {
  bench b;
  for (const auto p : {precision::q4, precision::q2, precision::q0, precision::q8, precision::bf16, precision::raw}) {
    access_tag tag(p, purpose::weights, 0);
    ASSERT_EQ(b.blocking.write(64, {1, 2, 3, 4}, {.tag = &tag}).status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(bytes(b.memory.data() + 64, b.memory.data() + 68), (bytes{1, 2, 3, 4}));
    std::memset(b.memory.data() + 64, 0, 4);
  }
  std::memcpy(b.memory.data() + 64, "\x81\x7f\x00\x10", 4);
  for (const auto p : {precision::q8, precision::bf16, precision::raw}) {
    access_tag tag(p, purpose::weights, 0);
    bytes data(4);
    ASSERT_EQ(b.blocking.read(64, data, {.tag = &tag}).status, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(data, (bytes{0x81, 0x7f, 0x00, 0x10}));
  }
  // No elements given: as many as the length holds.
  access_tag q4(precision::q4, purpose::weights, 0);
  bytes data(2);
  ASSERT_EQ(b.blocking.read(64, data, {.tag = &q4}).status, tlm::TLM_OK_RESPONSE);
  EXPECT_EQ(data, (bytes{0x78, 0x10}));
}

TEST(controller_access, q0_moves_nothing_and_is_counted) {
  bench b;
  nb_access a;
  a.address = 0;
  a.data.assign(3, 0x77);
  a.tag.emplace(precision::q0, purpose::weights, 1000);
  EXPECT_EQ(b.run(a), tlm::TLM_OK_RESPONSE);
  EXPECT_TRUE(a.completed_early);
  EXPECT_EQ(a.responded, a.arrival);
  EXPECT_EQ(a.data, bytes(3, 0x77));
  b.memory.update_figures();
  EXPECT_EQ(b.figures.count_of("memory.precision.q0.elements"), 1000U);
  EXPECT_EQ(b.figures.count_of("memory.bursts.read"), 0U);
  EXPECT_EQ(b.figures.count_of("memory.commands.act1"), 0U);
  EXPECT_EQ(b.figures.gauge_of("memory.energy.core_pj_modelled"), 0.0);
}

// A program's bytes must not depend on how far its initiator runs ahead.
TEST(controller_access, data_do_not_depend_on_the_quantum) {
  bench b({.channels = 2, .refresh = refresh_policy::all_bank});
  std::vector<bytes> results;
  for (const std::uint64_t quantum_ns : {0, 1'000, 1'000'000}) {
    const std::uint64_t base = 0x100000 * results.size();
    std::mt19937 random(3);
    const sc_core::sc_time quantum(static_cast<double>(quantum_ns), sc_core::SC_NS);
    sc_core::sc_time local;
    std::uint32_t state = 1;
    for (int step = 0; step < 2000; ++step) {
      bytes data(4);
      std::memcpy(data.data(), &state, 4);
      const std::uint64_t address = base + 4 * (random() % 64);
      const bool write = random() % 2 == 0;
      local = b.blocking.access(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, {.delay = local})
                  .delay;
      std::uint32_t seen = 0;
      std::memcpy(&seen, data.data(), 4);
      state = state * 1664525 + seen;
      if (local > quantum) {
        sc_core::sc_start(local);
        local = sc_core::SC_ZERO_TIME;
      }
    }
    results.emplace_back(b.memory.data() + base, b.memory.data() + base + 256);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(controller_access, figures_use_the_names_of_every_memory) {
  bench b;
  access_tag tag(precision::q8, purpose::prefix_kv, 64);
  bytes data(64);
  b.blocking.read(0, data, {.tag = &tag});
  b.blocking.write(4096, bytes(32));
  b.memory.update_figures();
  EXPECT_EQ(b.figures.count_of("memory.accesses"), 2U);
  EXPECT_EQ(b.figures.count_of("memory.bytes_read"), 64U);
  EXPECT_EQ(b.figures.count_of("memory.bytes_written"), 32U);
  EXPECT_EQ(b.figures.count_of("memory.traffic.read.prefix_kv.q8_bytes"), 64U);
  EXPECT_EQ(b.figures.count_of("memory.traffic.write.other.raw_bytes"), 32U);
  EXPECT_EQ(b.figures.count_of("memory.bursts.read"), 2U);
  double sum = 0;
  for (const char* part : {"activate", "refresh", "background", "core", "down", "convert"}) {
    sum += b.figures.gauge_of(std::string("memory.energy.") + part + "_pj_modelled");
  }
  EXPECT_GT(sum, 0.0);
  EXPECT_DOUBLE_EQ(b.figures.gauge_of("memory.energy.total_pj_modelled"), sum);
}

class command_counter : public command_sink {
 public:
  std::array<std::uint64_t, command_count> counts{};
  void issued(std::uint32_t /*channel*/, const issued_command& c) override {
    ++counts[static_cast<std::size_t>(c.what)];
  }
};

TEST(controller_access, timeline_and_command_sink_see_what_crosses_the_bus) {
  const dvp::test::scratch_file trace("controller.json");
  command_counter commands;
  {
    core::statistics figures;
    core::timeline timeline(trace.path());
    controller memory("memory", make_memory({.posted_writes = false}), figures, timeline, {.commands = &commands});
    dvp::test::tlm_initiator blocking("blocking");
    blocking.socket.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    bytes data(32);
    blocking.read(0, data);                                                       // closed: 40 .. 42.5 ns
    blocking.write(0, data, {.delay = sc_core::sc_time(1000, sc_core::SC_NS)});   // WL 9: 1011.25 .. 1013.75
    blocking.read(128, data, {.delay = sc_core::sc_time(2000, sc_core::SC_NS)});  // hit: 2021.25 .. 2023.75
    memory.update_figures();
    EXPECT_EQ(figures.count_of("memory.commands.rd"), commands.counts[static_cast<std::size_t>(command::rd)]);
    EXPECT_EQ(figures.count_of("memory.busy_ps"), 7'500U);
    sc_core::sc_stop();
  }
  EXPECT_EQ(commands.counts[static_cast<std::size_t>(command::act1)], 1U);
  EXPECT_EQ(commands.counts[static_cast<std::size_t>(command::rd)], 2U);
  EXPECT_EQ(commands.counts[static_cast<std::size_t>(command::wr)], 1U);
  EXPECT_EQ(dvp::test::timeline_slices(trace.text()), nlohmann::json::parse(R"([
    ["read", 0.04, 0.0025, {"count": 1, "bytes": 32}], ["write", 1.01125, 0.0025, {"count": 1, "bytes": 32}],
    ["read", 2.02125, 0.0025, {"count": 1, "bytes": 32}]])"));
}

TEST(controller_access, a_configuration_that_makes_no_memory_is_fatal) {
  dvp::test::throw_on_fatal();
  memory_config config = make_memory();
  config.mapping.row.pop_back();
  try {
    controller memory("memory", config);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_NE(std::string(report.get_msg()).find("memory: "), std::string::npos) << report.get_msg();
  }
}

}  // namespace
}  // namespace dvp::lpddr5::test
