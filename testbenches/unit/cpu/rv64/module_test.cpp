#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "testbenches/lib/tlm_initiator.h"
#include "testbenches/unit/cpu/rv64/sc_machine.h"

namespace dvp::cpu::rv64 {
namespace {

using sc_core::sc_time;

rv64_cpu_config with_quantum(const sc_time& quantum) {
  rv64_cpu_config config;
  config.quantum = quantum;
  return config;
}

TEST(module, figures_and_timeline_add_up_whatever_the_quantum) {
  const test::scratch_file short_file("short.json");
  const test::scratch_file long_file("long.json");
  std::uint64_t sleep_ps = 0;
  {
    test::sc_machine small("small", "interrupts", with_quantum(sc_time(7, sc_core::SC_NS)), 1, short_file.path());
    test::sc_machine large("large", "interrupts", with_quantum(sc_time(1, sc_core::SC_US)), 1, long_file.path());
    std::size_t left = 2;
    small.on_finish = large.on_finish = [&] {
      if (--left == 0) sc_core::sc_stop();
    };
    sc_core::sc_start(sc_time(300, sc_core::SC_US));
    EXPECT_TRUE(small.result == large.result);
    const auto count = [&](const char* figure) { return small.figures.count_of(std::string("hart0.") + figure); };
    // Every nanosecond is a cycle or sleep; the hart is ahead of the kernel by what it does last.
    sleep_ps = count("sleep_ps");
    EXPECT_EQ(count("sleeps"), 2U);
    EXPECT_EQ(count("cycles") * 1000 + sleep_ps, core::picoseconds(small.harts[0]->local_time()));
    EXPECT_EQ(count("interrupts"), 1 + 3 + 3 + 1 + 2 + 2 + 1U);
    EXPECT_EQ(count("exceptions"), 1U);
    EXPECT_EQ(count("register_writes"), small.device.accesses.size() + 1) << "the end is one";
    EXPECT_EQ(count("register_reads"), 0U);
    EXPECT_EQ(count("bus_errors"), 0U);
    for (const char* figure : {"cycles", "instructions", "sleep_ps", "sleeps", "interrupts", "register_writes"}) {
      EXPECT_EQ(count(figure), large.figures.count_of(std::string("hart0.") + figure)) << figure;
    }
  }
  EXPECT_EQ(short_file.text(), long_file.text());
  std::map<std::string, double> sums;
  double end = 0;
  for (const nlohmann::json& slice : test::timeline_slices(short_file.text())) {
    EXPECT_NEAR(slice[1].get<double>(), end, 1e-9) << "no gap";
    end = slice[1].get<double>() + slice[2].get<double>();
    sums[slice[0]] += slice[2].get<double>();
  }
  EXPECT_NEAR(sums["sleep"] * 1e6, static_cast<double>(sleep_ps), 1.0);
  EXPECT_GT(sums["run"], 0);
  EXPECT_GT(sums["trap"], 0);
  EXPECT_EQ(sums.size(), 3U);
}

TEST(module, without_direct_memory_every_access_is_a_transaction) {
  rv64_cpu_config config = with_quantum(sc_time(1, sc_core::SC_US));
  config.direct_memory = false;
  test::sc_machine machine("machine", "debugged", config);
  sc_core::sc_start(sc_time(300, sc_core::SC_US));
  ASSERT_TRUE(machine.finished) << machine.harts[0]->error();
  EXPECT_EQ(machine.doubleword(machine.image["table"] + 24), 9U);
  EXPECT_EQ(machine.figures.count_of("ram.accesses"), 4 + 1 + 1U) << "stores, a load, the mark";
}

TEST(module, time_follows_a_clock_that_is_set) {
  test::sc_machine plain("plain", "clock", with_quantum(sc_time(1, sc_core::SC_US)));
  test::sc_machine set("set", "clock", with_quantum(sc_time(1, sc_core::SC_US)));
  std::size_t left = 2;
  plain.on_finish = set.on_finish = [&] {
    if (--left == 0) sc_core::sc_stop();
  };
  set.harts[0]->follow_time([&] {
    return core::picoseconds(sc_core::sc_time_stamp()) / 1000 + (set.device.accesses.empty() ? 5'000 : 1'000'000);
  });
  sc_core::sc_start(sc_time(300, sc_core::SC_US));
  ASSERT_TRUE(plain.finished && set.finished);
  ASSERT_EQ(plain.result.marks.size(), 2U);
  EXPECT_LT(plain.result.marks[1], 100U);
  EXPECT_EQ(set.result.marks,
            (std::vector<std::uint64_t>{plain.result.marks[0] + 5'000, plain.result.marks[1] + 1'000'000}));
  EXPECT_EQ(set.result.time_ns, plain.result.time_ns);
}

// Memory at the program's base and nothing below it, refused as one range; it counts what it is asked for.
struct counting_memory : sc_core::sc_module {
  tlm_utils::simple_target_socket<counting_memory> socket{"socket"};
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(test::sc_machine::ram_bytes);
  int grants = 0, refusals = 0, errors = 0;

  explicit counting_memory(const sc_core::sc_module_name& name) : sc_module(name) {
    socket.register_b_transport(this, &counting_memory::b_transport);
    socket.register_get_direct_mem_ptr(this, &counting_memory::direct);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_time&) {
    payload.set_response_status(payload.is_write() ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
    if (payload.is_write()) return sc_core::sc_stop();  // the end
    ++errors;
  }
  bool direct(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    dmi.init();
    const bool granted = payload.get_address() >= test::program::base;
    dmi.set_start_address(granted ? test::program::base : 0);
    dmi.set_end_address(test::program::base - 1 + (granted ? bytes.size() : 0));
    if (granted) dmi.allow_read_write();
    dmi.set_dmi_ptr(bytes.data());
    ++(granted ? grants : refusals);
    return granted;
  }
};

TEST(module, a_refused_range_is_asked_for_once) {
  const test::program image("scattered");
  core::statistics figures;
  core::timeline timeline("/dev/null");
  counting_memory memory("memory");
  std::memcpy(memory.bytes.data(), image.bytes.data(), image.bytes.size());
  rv64_cpu_config config = with_quantum(sc_time(1, sc_core::SC_US));
  config.reset_pc = test::program::base;
  config.clock_hz = 1'000'000'000;
  rv64_cpu cpu("cpu", config, figures, timeline);
  sc_core::sc_signal<bool> software, timer, external;
  cpu.software.bind(software);
  cpu.timer.bind(timer);
  cpu.external.bind(external);
  cpu.socket.bind(memory.socket);
  sc_core::sc_start(sc_time(1, sc_core::SC_MS));
  EXPECT_EQ(memory.errors, 1000);
  EXPECT_EQ(cpu.core().x(20), 1000U);
  EXPECT_EQ(memory.refusals, 1);
  EXPECT_EQ(memory.grants, 1);
}

TEST(module, a_hart_that_cannot_go_on_says_so_and_ends) {
  test::sc_machine machine("machine", "endless", with_quantum(sc_time(1, sc_core::SC_US)));
  sc_time at;
  sc_core::sc_spawn([&] {
    sc_core::wait(machine.harts[0]->finished());
    at = sc_core::sc_time_stamp();
  });
  sc_core::sc_start(sc_time(300, sc_core::SC_US));
  EXPECT_TRUE(machine.harts[0]->done());
  EXPECT_NE(machine.harts[0]->error().find("again and again"), std::string::npos);
  EXPECT_GT(at, sc_core::SC_ZERO_TIME);
  EXPECT_LT(at, sc_time(1, sc_core::SC_US));
}

TEST(module, a_bad_configuration_is_fatal) {
  test::throw_on_fatal();
  rv64_cpu_config config;
  config.clock_hz = 2'000'000'000'000;
  EXPECT_THROW(test::sc_machine("machine", "endless", config), sc_core::sc_report);
}

TEST(module, a_bad_price_is_fatal) {
  test::throw_on_fatal();
  rv64_cpu_config config;
  config.costs[work::alu] = 0;
  EXPECT_THROW(test::sc_machine("machine", "endless", config), sc_core::sc_report);
}

}  // namespace
}  // namespace dvp::cpu::rv64
