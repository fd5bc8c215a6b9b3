// The CPU seat against a device whose times are known: 1 GHz core, 4 cycles per register access, 2 ns on the bus,
// 3 ns in the device. All expected times are added up by hand in the comments.
#include "tlm/cpu/native_cpu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "testbenches/lib/tlm_initiator.h"
#include "tlm/core/bus.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/memory/simple_memory.h"

namespace dvp::cpu {
namespace {

using nlohmann::json;
using sc_core::sc_time;

constexpr std::uint64_t device_base = 0x1000'0000, ram_base = 0x8000'0000, ram_bytes = 0x1000;
constexpr std::uint64_t value_register = device_base, alarm_register = device_base + 4,
                        clear_register = device_base + 8, fault_register = device_base + 12;
constexpr std::uint32_t descriptor_work = 0, token_work = 1;

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}

// value: plain storage. alarm: raises the interrupt so many ns later. clear: lowers it. fault: a fault of the model.
class device : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<device> socket;
  sc_core::sc_out<bool> interrupt;
  std::vector<std::string> log;  // simulated time and command of each access

  explicit device(const sc_core::sc_module_name& name) : sc_module(name), socket("socket"), interrupt("interrupt") {
    socket.register_b_transport(this, &device::b_transport);
    SC_HAS_PROCESS(device);
    SC_METHOD(drive);
    sensitive << change_;
    dont_initialize();
  }

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    std::uint32_t word = 0;
    std::memcpy(&word, payload.get_data_ptr(), 4);
    log.push_back(sc_core::sc_time_stamp().to_string() + (payload.is_write() ? " write" : " read") + " +" +
                  std::to_string(payload.get_address()));
    delay += ns(3);
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    switch (payload.get_address()) {
      case 0:
        if (payload.is_write()) {
          value_ = word;
        } else {
          std::memcpy(payload.get_data_ptr(), &value_, 4);
        }
        break;
      case 4:
        level_ = true;
        change_.notify(ns(word));
        break;
      case 8:
        level_ = false;
        change_.notify(sc_core::SC_ZERO_TIME);
        break;
      case 12:
        SC_REPORT_ERROR("/test/device", "the model is broken");
        break;
      default:
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    }
  }
  void drive() { interrupt.write(level_); }

  std::uint32_t value_ = 0;
  bool level_ = false;
  sc_core::sc_event change_;
};

native_cpu_config reference_config() {
  native_cpu_config config;
  config.clock_hz = 1'000'000'000;
  config.work = {{"descriptor", 10}, {"token", 25}};
  config.register_access_cycles = 4;
  return config;
}

struct bench {
  core::statistics figures;
  core::timeline timeline;
  std::function<void(native_cpu&)> firmware;
  native_cpu cpu;
  core::protocol_checker checker{"checker"};
  core::bus wires{"wires", {{"device", device_base, 0x100}, {"ram", ram_base, ram_bytes}}, 1, ns(2)};
  device dev{"dev"};
  memory::simple_memory ram;
  sc_core::sc_signal<bool> line{"line"};

  explicit bench(std::function<void(native_cpu&)> body, const native_cpu_config& config = reference_config(),
                 const std::string& timeline_path = "/dev/null")
      : timeline(timeline_path),
        firmware(std::move(body)),
        cpu(
            "cpu", config, [this] { firmware(cpu); }, figures, timeline),
        ram("ram", {ram_bytes, ns(10), 1'000'000'000, 0, 0, true, {}}, figures, timeline) {
    cpu.socket.bind(checker.from_initiator);
    checker.to_target.bind(wires.from_initiator(0));
    wires.to_target("device").bind(dev.socket);
    wires.to_target("ram").bind(ram.socket);
    cpu.interrupt.bind(line);
    dev.interrupt.bind(line);
  }
  ~bench() { EXPECT_EQ(checker.violations(), std::vector<std::string>{}); }

  std::uint64_t count(const char* figure) const { return figures.count_of(std::string("cpu.") + figure); }
};

class quantum : public testing::TestWithParam<double> {};

TEST_P(quantum, does_not_change_any_time) {
  native_cpu_config config = reference_config();
  config.quantum = ns(GetParam());
  const test::scratch_file trace("cpu.json");
  {
    std::vector<std::uint64_t> times;
    std::vector<bool> woken;
    bench b(
        [&](native_cpu& cpu) {
          const auto note = [&] { times.push_back(cpu.now_ns()); };
          cpu.spend(descriptor_work, 3), note();      // 3 * 10                                    30
          cpu.write32(value_register, 7), note();     // 4, device at 34; 2 + 3                    39
          cpu.spend(token_work, 2), note();           // 2 * 25                                    89
          EXPECT_EQ(cpu.read32(value_register), 7U);  // device at 93
          note();                                     //                                           98
          cpu.write32(alarm_register, 100), note();   // device at 102, alarm at 202              107
          woken.push_back(cpu.wait_for_interrupt());
          note();                                  //                                          202
          cpu.write32(clear_register, 0), note();  // device at 206                            211
          woken.push_back(cpu.wait_for_interrupt(ns(50)));
          note();                                 // times out                                261
          cpu.spend(descriptor_work, 1), note();  //                                          271
          woken.push_back(cpu.wait_for_interrupt(sc_core::SC_ZERO_TIME));
          note();                                   // a look, low                              271
          cpu.write32(alarm_register, 20), note();  // device at 275, alarm at 295              280
          cpu.spend(token_work, 4), note();         //                                          380
          woken.push_back(cpu.wait_for_interrupt(ns(1)));
          note();  // already high                             380
        },
        config, trace.path());
    sc_core::sc_start();
    EXPECT_TRUE(b.cpu.done());
    EXPECT_EQ(b.cpu.error(), "");
    EXPECT_EQ(times, (std::vector<std::uint64_t>{30, 39, 89, 98, 107, 202, 211, 261, 271, 271, 280, 380, 380}));
    EXPECT_EQ(woken, (std::vector<bool>{true, false, false, true}));
    EXPECT_EQ(b.dev.log, (std::vector<std::string>{"34 ns write +0", "93 ns read +0", "102 ns write +4",
                                                   "206 ns write +8", "275 ns write +4"}));
    EXPECT_EQ(sc_core::sc_time_stamp(), ns(380));
    EXPECT_EQ(b.count("cycles"), 210U);
    EXPECT_EQ(b.count("busy_ps"), 235'000U);
    EXPECT_EQ(b.count("wait_ps"), 145'000U);
    EXPECT_EQ(b.count("waits"), 4U);
    EXPECT_EQ(b.count("wait_timeouts"), 2U);
    EXPECT_EQ(b.count("register_reads"), 1U);
    EXPECT_EQ(b.count("register_writes"), 4U);
    EXPECT_EQ(b.count("work.descriptor"), 4U);
    EXPECT_EQ(b.count("work.token"), 6U);
  }
  json slices = test::timeline_slices(trace.text());
  for (json& slice : slices) slice.erase(3);
  EXPECT_EQ(slices, json::parse(R"([["descriptor", 0.0, 0.03], ["registers", 0.03, 0.009], ["token", 0.039, 0.05],
    ["registers", 0.089, 0.018], ["wait", 0.107, 0.095], ["registers", 0.202, 0.009], ["wait", 0.211, 0.05],
    ["descriptor", 0.261, 0.01], ["registers", 0.271, 0.009], ["token", 0.28, 0.1]])"));
}

INSTANTIATE_TEST_SUITE_P(native_cpu, quantum, testing::Values(0.0, 7.0, 1'000.0, 1'000'000.0));

TEST(native_cpu, a_bus_error_is_a_value) {
  bench b([](native_cpu& cpu) {
    EXPECT_EQ(cpu.read32(0x4000), 0xffffffffU);
    EXPECT_TRUE(cpu.last_access_failed());
    cpu.write32(value_register, 5);
    EXPECT_FALSE(cpu.last_access_failed());
    cpu.write32(device_base + 0x20, 1);
    EXPECT_TRUE(cpu.last_access_failed());
    EXPECT_EQ(cpu.read32(value_register), 5U);
    EXPECT_FALSE(cpu.last_access_failed());
  });
  sc_core::sc_start();
  EXPECT_TRUE(b.cpu.done());
  EXPECT_EQ(b.count("bus_errors"), 2U);
}

TEST(native_cpu, host_memory_is_that_of_the_device_side) {
  bench b([&](native_cpu& cpu) {
    auto* words = static_cast<std::uint32_t*>(cpu.memory(ram_base + 0x100, 8));
    ASSERT_NE(words, nullptr);
    words[0] = 0x01020304;
    cpu.write32(ram_base + 0x104, 0x11121314);
    EXPECT_EQ(words[1], 0x11121314U);
    EXPECT_EQ(cpu.read32(ram_base + 0x100), 0x01020304U);
    EXPECT_EQ(cpu.memory(ram_base, ram_bytes), static_cast<void*>(reinterpret_cast<std::uint8_t*>(words) - 0x100));
    EXPECT_NE(cpu.memory(ram_base + ram_bytes - 1, 1), nullptr);
    EXPECT_EQ(cpu.memory(ram_base + ram_bytes - 1, 2), nullptr) << "across the end";
    EXPECT_EQ(cpu.memory(ram_base - 1, 2), nullptr) << "across the start";
    EXPECT_EQ(cpu.memory(ram_base, ~0ULL), nullptr);
    EXPECT_EQ(cpu.memory(device_base, 4), nullptr) << "registers are no memory";
  });
  sc_core::sc_start();
  EXPECT_TRUE(b.cpu.done());
}

TEST(native_cpu, synchronise_lets_a_memory_poll_see_the_device) {
  native_cpu_config config = reference_config();
  config.quantum = ns(1e9);
  std::uint64_t seen_at = 0;
  bench b(
      [&](native_cpu& cpu) {
        const auto* flag = static_cast<const volatile std::uint8_t*>(cpu.memory(ram_base, 1));
        while (*flag == 0) {
          cpu.spend(descriptor_work, 1);
          cpu.synchronise();
        }
        seen_at = cpu.now_ns();
      },
      config);
  sc_core::sc_start(ns(1005));
  EXPECT_FALSE(b.cpu.done());
  b.ram.data()[0] = 1;
  sc_core::sc_start();
  EXPECT_TRUE(b.cpu.done());
  EXPECT_EQ(seen_at, 1010U);
}

TEST(native_cpu, a_sleeping_firmware_can_be_seen) {
  bench b([](native_cpu& cpu) { cpu.wait_for_interrupt(); });
  sc_core::sc_start();
  EXPECT_FALSE(b.cpu.done());
  EXPECT_TRUE(b.cpu.waiting());
}

TEST(native_cpu, what_the_firmware_throws_ends_the_run) {
  bench b([](native_cpu& cpu) {
    cpu.spend(token_work, 1);
    cpu.spend(2, 1);
  });
  sc_time finished_at;
  sc_core::sc_spawn([&] {
    sc_core::wait(b.cpu.finished());
    finished_at = sc_core::sc_time_stamp();
  });
  sc_core::sc_start();
  EXPECT_TRUE(b.cpu.done());
  EXPECT_EQ(b.cpu.error(), "work kind 2 is not in the cost table of cpu");
  EXPECT_EQ(finished_at, ns(25));
}

TEST(native_cpu, a_report_of_a_model_is_not_the_firmwares) {
  bench b([](native_cpu& cpu) { cpu.read32(fault_register); });
  EXPECT_THROW(sc_core::sc_start(), sc_core::sc_report);
  EXPECT_FALSE(b.cpu.done());
}

TEST(native_cpu, firmware_has_a_deep_stack) {
  int sum = 0;
  bench b([&](native_cpu& cpu) {
    volatile std::uint8_t deep[4 << 20];
    for (std::size_t i = 0; i < sizeof deep; i += 4096) deep[i] = 1;
    cpu.spend(token_work, 1);
    for (std::size_t i = 0; i < sizeof deep; i += 4096) sum += deep[i];
  });
  sc_core::sc_start();
  EXPECT_TRUE(b.cpu.done());
  EXPECT_EQ(sum, 1024);
}

TEST(native_cpu, a_bad_configuration_is_fatal) {
  test::throw_on_fatal();
  native_cpu_config config = reference_config();
  config.clock_hz = 0;
  EXPECT_THROW(bench([](native_cpu&) {}, config), sc_core::sc_report);
}

}  // namespace
}  // namespace dvp::cpu
