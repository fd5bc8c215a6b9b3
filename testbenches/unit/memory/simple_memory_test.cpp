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
