#include "tlm/memory/simple_memory.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "testbenches/lib/tlm_initiator.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/numerics/converter.h"

namespace dvp::memory {
namespace {

using core::access_tag;
using nlohmann::json;
using sc_core::sc_time;
using test::access_options;

using bytes = std::vector<std::uint8_t>;

sc_time ps(std::uint64_t value) {
  return {static_cast<double>(value), sc_core::SC_PS};
}
sc_time ns(std::uint64_t value) {
  return ps(1000 * value);
}

// 3 bytes per nanosecond, so one byte rounds up to 334 ps and 64 bytes to 21334 ps.
simple_memory_config small_config(std::uint64_t size = 256) {
  simple_memory_config config;
  config.bytes = size;
  config.latency = ns(40);
  config.bytes_per_second = 3'000'000'000;
  config.e_core_pj_per_bit = 2.0;
  config.e_down_pj_per_bit = 0.5;
  return config;
}

struct bench {
  core::statistics figures;
  core::timeline timeline;
  test::tlm_initiator initiator{"initiator"};
  core::protocol_checker checker{"checker"};
  simple_memory memory;

  explicit bench(const simple_memory_config& config) : memory("dram", config, figures, timeline) { bind(); }
  bench(const simple_memory_config& config, const std::string& timeline_path)
      : timeline(timeline_path), memory("dram", config, figures, timeline) {
    bind();
  }
  ~bench() { EXPECT_EQ(checker.violations(), std::vector<std::string>{}); }

  sc_time read_delay(std::size_t length, const sc_time& delay) {
    bytes data(length);
    return initiator.read(0, data, {.delay = delay}).delay;
  }

 private:
  void bind() {
    initiator.socket.bind(checker.from_initiator);
    checker.to_target.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

TEST(simple_memory, overlapping_requests_take_the_times_computed_by_hand) {
  const test::scratch_file trace("memory.json");
  {
    bench b(small_config(), trace.path());
    EXPECT_EQ(b.read_delay(3, ns(0)), ps(41'000));     // bus 0 .. 1
    EXPECT_EQ(b.read_delay(1, ns(0)), ps(41'334));     // waits: 1 .. 1.334
    EXPECT_EQ(b.read_delay(64, ps(500)), ps(62'668));  // 1.334 .. 22.668
    EXPECT_EQ(b.read_delay(6, ns(30)), ns(72));        // idle before: 30 .. 32
    EXPECT_EQ(b.read_delay(3, ns(5)), ns(73));         // asked later for earlier: 32 .. 33
    sc_core::sc_start(ps(32'500));
    EXPECT_EQ(b.initiator.write(9, {1, 2, 3}).delay, ps(41'500));  // 33 .. 34
    sc_core::sc_start(ps(67'500));
    EXPECT_EQ(b.read_delay(3, ns(0)), ns(41));  // 100 .. 101
    EXPECT_EQ(b.initiator.write(255, {1, 2}, {.delay = ns(7)}).delay, ns(7)) << "a refused access took time";
    EXPECT_EQ(b.read_delay(3, ns(0)), ns(42));  // 101 .. 102
    EXPECT_EQ(b.figures.count_of("dram.busy_ps"), 28'668U);
    EXPECT_EQ(b.figures.count_of("dram.accesses"), 8U);
    EXPECT_EQ(b.figures.count_of("dram.bytes_read"), 83U);
    EXPECT_EQ(b.figures.count_of("dram.bytes_written"), 3U);
  }
  EXPECT_EQ(test::timeline_slices(trace.text()), json::parse(R"([
    ["read other", 0.0, 0.022668, {"count": 3, "bytes": 68}], ["read other", 0.03, 0.003, {"count": 2, "bytes": 9}],
    ["write other", 0.033, 0.001, {"count": 1, "bytes": 3}], ["read other", 0.1, 0.002, {"count": 2, "bytes": 6}]])"));
}

TEST(simple_memory, any_access_matches_a_plain_byte_array) {
  constexpr std::uint64_t size = 257;
  bench b(small_config(size));
  bytes model(size, 0);
  const std::uint32_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t from, std::uint32_t to) {
    return from + static_cast<std::uint32_t>(random()) % (to - from + 1);
  };
  int refused = 0;
  for (int step = 0; step < 20'000; ++step) {
    const bool writes = random() % 2 == 0;
    const std::uint64_t address = random() % 50 == 0 ? ~0ULL - pick(0, 40) : pick(0, size + 8);
    bytes data(pick(1, 40));
    for (auto& byte : data) byte = static_cast<std::uint8_t>(random());
    access_options options;
    if (random() % 3 == 0) options.streaming_width = pick(1, 48);
    if (random() % 3 == 0) {
      options.enables.resize(pick(1, 9));
      for (auto& enable : options.enables) enable = random() % 2 == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    }
    bytes expected = data;
    const std::uint64_t width = options.streaming_width == 0 ? data.size() : options.streaming_width;
    bool inside = true;
    for (std::uint64_t i = 0; i < data.size() && i < width; ++i) {
      inside = inside && address + i < size && address + i >= address;
    }
    for (std::uint64_t i = 0; inside && i < data.size(); ++i) {
      if (!options.enables.empty() && options.enables[i % options.enables.size()] == TLM_BYTE_DISABLED) continue;
      std::uint8_t& stored = model[address + i % width];
      if (writes) {
        stored = data[i];
      } else {
        expected[i] = stored;
      }
    }
    refused += inside ? 0 : 1;
    const auto command = writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    const auto result = b.initiator.access(command, address, data, options);
    ASSERT_EQ(result.status, inside ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE)
        << "step " << step << " address " << address << " length " << data.size() << " width " << width;
    ASSERT_EQ(data, expected) << "step " << step << " address " << address << " width " << width;
  }
  EXPECT_GT(refused, 500);
  EXPECT_EQ(bytes(b.memory.data(), b.memory.data() + size), model);
}

TEST(simple_memory, direct_debug_and_blocking_access_agree) {
  bench b(small_config());
  tlm::tlm_dmi dmi;
  ASSERT_TRUE(b.initiator.direct(100, dmi));
  EXPECT_TRUE(dmi.is_read_write_allowed());
  EXPECT_EQ(dmi.get_start_address(), 0U);
  EXPECT_EQ(dmi.get_end_address(), 255U);
  EXPECT_EQ(dmi.get_read_latency(), ns(40));
  EXPECT_EQ(b.figures.count_of("dram.direct_grants"), 1U);
  EXPECT_FALSE(b.initiator.direct(256, dmi));
  ASSERT_TRUE(b.initiator.direct(255, dmi));

  EXPECT_TRUE(b.initiator.write(250, {1, 2, 3, 4, 5, 6}).dmi_hint);
  bytes debug_bytes(6);
  ASSERT_EQ(b.initiator.debug(tlm::TLM_READ_COMMAND, 250, debug_bytes), 6U);
  EXPECT_EQ(debug_bytes, (bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(bytes(dmi.get_dmi_ptr() + 250, dmi.get_dmi_ptr() + 256), debug_bytes);
  bytes written{9, 8};
  EXPECT_EQ(b.initiator.debug(tlm::TLM_WRITE_COMMAND, 0, written), 2U);
  dmi.get_dmi_ptr()[2] = 7;
  bytes blocking(4);
  b.initiator.read(0, blocking);
  EXPECT_EQ(blocking, (bytes{9, 8, 7, 0}));
  EXPECT_EQ(b.initiator.debug(tlm::TLM_READ_COMMAND, 255, written), 0U) << "debug access across the end";
  EXPECT_EQ(b.figures.count_of("dram.accesses"), 2U) << "debug or direct access was counted";
}

TEST(simple_memory, direct_access_can_be_switched_off) {
  simple_memory_config config = small_config();
  config.direct_memory = false;
  bench b(config);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(b.initiator.direct(0, dmi));
  EXPECT_FALSE(b.initiator.write(0, {1}).dmi_hint);
  EXPECT_EQ(b.figures.count_of("dram.direct_grants"), 0U);
}

TEST(simple_memory, traffic_and_energy_follow_the_tag) {
  bench b(small_config());
  const auto tagged = [&](tlm::tlm_command command, std::size_t length, std::optional<access_tag> tag) {
    bytes data(length);
    access_options options;
    options.tag = tag ? &*tag : nullptr;
    ASSERT_EQ(b.initiator.access(command, 0, data, options).status, tlm::TLM_OK_RESPONSE);
  };
  using gen::precision;
  using gen::purpose;
  const auto energy = [&](const char* what) { return b.figures.gauge_of(std::string("dram.energy.") + what); };
  tagged(tlm::TLM_READ_COMMAND, 64, access_tag(precision::q8, purpose::weights, 64));
  const double e8 = energy("total_pj_modelled");
  EXPECT_EQ(e8, 64 * 8 * (2.0 + 0.5));
  tagged(tlm::TLM_READ_COMMAND, 32, access_tag(precision::q4, purpose::weights, 64));
  const double e4 = energy("total_pj_modelled") - e8;
  EXPECT_EQ(e8 - e4, 4 * 0.5 * 64);
  tagged(tlm::TLM_READ_COMMAND, 16, access_tag(precision::q2, purpose::prefix_kv, 0));
  EXPECT_EQ(energy("total_pj_modelled") - e8 - e4, 64 * (8 * 2.0 + 2 * 0.5));
  tagged(tlm::TLM_WRITE_COMMAND, 10, access_tag(precision::q4, purpose::step_kv, 20));
  tagged(tlm::TLM_READ_COMMAND, 6, access_tag(precision::bf16, purpose::prefix_kv, 3));
  tagged(tlm::TLM_READ_COMMAND, 5, std::nullopt);
  const double core_bits = 8 * (64 + 64 + 64 + 10 + 6 + 5);
  const double down_bits = 8 * 64 + 4 * 64 + 2 * 64 + 8 * (10 + 6 + 5);
  EXPECT_EQ(energy("core_pj_modelled"), 2.0 * core_bits);
  EXPECT_EQ(energy("down_pj_modelled"), 0.5 * down_bits);
  EXPECT_EQ(energy("total_pj_modelled"), 2.0 * core_bits + 0.5 * down_bits);
  EXPECT_EQ(b.figures.tree()["dram"]["traffic"].dump(),
            R"({"read":{"other":{"raw_bytes":5},"prefix_kv":{"bf16_bytes":6,"q2_bytes":16},)"
            R"("weights":{"q4_bytes":32,"q8_bytes":64}},"write":{"step_kv":{"q4_bytes":10}}})");
}

// Element i of a read of `bits` bits, by the definition of one code.
int code_of(const bytes& delivered, std::size_t i, int bits) {
  const int field = delivered[i * static_cast<std::size_t>(bits) / 8] >> i * static_cast<std::size_t>(bits) % 8;
  const int code = field & ((1 << bits) - 1);
  return code >= 1 << (bits - 1) ? code - (1 << bits) : code;
}

TEST(simple_memory, tagged_reads_deliver_converted_codes_and_leave_the_masters) {
  constexpr std::uint64_t size = 4096;
  bench b(small_config(size));
  EXPECT_EQ(b.memory.views(), 128U);
  const numerics::view fitted4{4, numerics::view_mode::fitted, 90, 3, 0};
  const numerics::view fitted2{2, numerics::view_mode::fitted, 0, 0, 41};
  ASSERT_TRUE(b.memory.set_view(1, fitted4));
  ASSERT_TRUE(b.memory.set_view(128, fitted2));
  EXPECT_FALSE(b.memory.set_view(0, fitted4));
  EXPECT_FALSE(b.memory.set_view(129, fitted4));
  EXPECT_FALSE(b.memory.set_view(2, {8, numerics::view_mode::round}));
  const std::uint32_t seed = 20;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (std::uint64_t i = 0; i < size; ++i) b.memory.data()[i] = static_cast<std::uint8_t>(random());
  const bytes masters(b.memory.data(), b.memory.data() + size);
  for (int step = 0; step < 2000; ++step) {
    const int bits = random() % 2 == 0 ? 4 : 2;
    const bool fitted = random() % 2 == 0;
    const auto elements = static_cast<std::uint32_t>(1 + random() % 300);
    const std::uint64_t address = random() % (size - elements + 1);
    const auto number = static_cast<std::uint16_t>(!fitted ? 0 : bits == 4 ? 1 : 128);
    access_tag tag(bits == 4 ? gen::precision::q4 : gen::precision::q2, gen::purpose::weights, elements, number);
    bytes data((elements * static_cast<std::uint32_t>(bits) + 7) / 8, 0xee);
    const auto result = b.initiator.read(address, data, {.tag = &tag});
    ASSERT_EQ(result.status, tlm::TLM_OK_RESPONSE);
    EXPECT_FALSE(result.dmi_hint) << "DMI would not convert";
    for (std::uint32_t i = 0; i < elements; ++i) {
      const auto q = static_cast<std::int8_t>(masters[address + i]);
      const int expected = fitted ? numerics::convert(bits == 4 ? fitted4 : fitted2, q) : q >> (8 - bits);
      ASSERT_EQ(code_of(data, i, bits), expected) << "step " << step << " element " << i << " of " << elements;
    }
    const std::uint32_t rest = elements * static_cast<std::uint32_t>(bits) % 8;
    ASSERT_TRUE(rest == 0 || data.back() >> rest == 0) << "bits behind the last element";
  }
  EXPECT_EQ(bytes(b.memory.data(), b.memory.data() + size), masters);
}

TEST(simple_memory, a_converted_read_takes_the_time_of_what_is_delivered) {
  bench b(small_config());
  access_tag q4(gen::precision::q4, gen::purpose::weights, 0), q2(gen::precision::q2, gen::purpose::weights, 12),
      q0(gen::precision::q0, gen::purpose::weights, 64);
  bytes six(6), three(3);
  EXPECT_EQ(b.initiator.read(0, six, {.tag = &q4}).delay, ns(42));
  EXPECT_EQ(b.initiator.read(0, three, {.tag = &q2}).delay, ns(43));
  EXPECT_EQ(b.figures.count_of("dram.accesses"), 2U);
  const double spent = b.figures.gauge_of("dram.energy.total_pj_modelled");
  EXPECT_EQ(spent, (12 + 12) * 8 * 2.0 + (12 * 4 + 12 * 2) * 0.5);
  bytes untouched(1, 0x5a);
  EXPECT_EQ(b.initiator.read(0, untouched, {.delay = ns(5), .tag = &q0}).delay, ns(5));
  EXPECT_EQ(untouched, bytes(1, 0x5a));
  EXPECT_EQ(b.figures.count_of("dram.bytes_read"), 9U);
  EXPECT_EQ(b.figures.gauge_of("dram.energy.total_pj_modelled"), spent);
}

TEST(simple_memory, refuses_converted_reads_that_fit_nothing) {
  bench b(small_config());
  ASSERT_TRUE(b.memory.set_view(7, {4, numerics::view_mode::round}));
  struct row {
    const char* what;
    std::uint64_t address;
    std::size_t length;
    access_tag tag;
    access_options options;
    tlm::tlm_response_status expected;
  };
  using gen::precision;
  using gen::purpose;
  access_tag q4(precision::q4, purpose::weights, 8), q2(precision::q2, purpose::weights, 8);
  const row rows[] = {
      {"too long", 0, 5, q4, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"too short", 0, 3, q4, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"q2 of q4's length", 0, 4, q2, {}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"streaming", 0, 4, q4, {.streaming_width = 2}, tlm::TLM_BURST_ERROR_RESPONSE},
      {"enables", 0, 4, q4, {.enables = {0xff}}, tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE},
      {"unknown view", 0, 4, {precision::q4, purpose::weights, 8, 3}, {}, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"view beyond the table", 0, 4, {precision::q4, purpose::weights, 8, 129}, {}, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"view of q4", 0, 2, {precision::q2, purpose::weights, 8, 7}, {}, tlm::TLM_COMMAND_ERROR_RESPONSE},
      {"elements past the end", 249, 4, q4, {}, tlm::TLM_ADDRESS_ERROR_RESPONSE},
      {"far outside", ~std::uint64_t{0} - 3, 4, q4, {}, tlm::TLM_ADDRESS_ERROR_RESPONSE},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    bytes data(r.length, 0x5a);
    access_options options = r.options;
    options.delay = ns(7);
    access_tag tag = r.tag;
    options.tag = &tag;
    const auto result = b.initiator.read(r.address, data, options);
    EXPECT_EQ(result.status, r.expected);
    EXPECT_EQ(result.delay, ns(7));
    EXPECT_EQ(data, bytes(r.length, 0x5a));
  }
  EXPECT_EQ(b.figures.count_of("dram.accesses"), 0U);
  bytes four(4);
  EXPECT_EQ(b.initiator.read(248, four, {.tag = &q4}).status, tlm::TLM_OK_RESPONSE) << "the last elements";
  bytes eight(8, 3);
  EXPECT_EQ(b.initiator.access(tlm::TLM_WRITE_COMMAND, 248, eight, {.tag = &q4}).status, tlm::TLM_OK_RESPONSE)
      << "a write stores plain bytes whatever its tag";
  EXPECT_EQ(bytes(b.memory.data() + 248, b.memory.data() + 256), eight);
}

TEST(simple_memory, a_large_memory_takes_host_pages_only_where_touched) {
  const auto resident_pages = [] {
    std::ifstream statm("/proc/self/statm");
    long total = 0, resident = 0;
    statm >> total >> resident;
    return resident;
  };
  const long before = resident_pages();
  const std::uint64_t size = 8ULL << 30;
  bench b(small_config(size));
  b.initiator.write(size - 1, {42});
  bytes middle(4096, 1);
  b.initiator.read(size / 2, middle);
  EXPECT_EQ(middle, bytes(4096, 0));
  EXPECT_EQ(b.memory.data()[size - 1], 42);
  EXPECT_LT(resident_pages() - before, 4096) << "pages";
}

TEST(simple_memory, a_bad_configuration_is_fatal) {
  test::throw_on_fatal();
  simple_memory_config config = small_config();
  config.bytes_per_second = 0;
  core::statistics figures;
  core::timeline off;
  try {
    simple_memory memory("dram", config, figures, off);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "dram: bandwidth is 0 bytes per second");
  }
}

}  // namespace
}  // namespace dvp::memory
