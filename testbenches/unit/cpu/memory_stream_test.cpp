// What a native hart streams, on a memory with one latency and one bandwidth (10 ns, 1 byte per ns) behind a bus of
// 2 ns, and on LPDDR5. 1 GHz core, one cycle per unit of work, bursts of 64 bytes, two under way. All expected times of
// the simple memory are added up by hand in the comments; they are the same for both ways to the bus.
#include "tlm/cpu/memory_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "tlm/core/bus.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/cpu/native_cpu.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/controller.h"
#include "tlm/memory/simple_memory.h"
#include "tlm_utils/peq_with_get.h"
#include "tlm_utils/simple_initiator_socket.h"
#include "tlm_utils/simple_target_socket.h"

namespace dvp::cpu {
namespace {

using sc_core::sc_time;

constexpr std::uint64_t ram_base = 0x8000'0000, ram_bytes = 1U << 20, device_base = 0x1000'0000;
constexpr std::uint32_t work = 0;
constexpr bool read = false, written = true;
constexpr auto weights = gen::purpose::weights;

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}

// One hart behind a protocol checker.
struct initiator {
  std::function<void(native_cpu&)> firmware;
  native_cpu cpu;
  core::protocol_checker checker;
  sc_core::sc_signal<bool> line;

  initiator(const std::string& name, const native_cpu_config& config, std::function<void(native_cpu&)> body,
            core::statistics& figures, core::timeline& timeline)
      : firmware(std::move(body)),
        cpu(
            name.c_str(), config, [this] { firmware(cpu); }, figures, timeline),
        checker((name + "_checker").c_str()) {
    cpu.socket.bind(checker.from_initiator);
    cpu.interrupt.bind(line);
  }
};

native_cpu_config configuration(bool non_blocking, std::uint32_t outstanding = 2) {
  native_cpu_config config;
  config.clock_hz = 1'000'000'000;
  config.work = {{"mac", 1}};
  config.register_access_cycles = 4;
  config.stream = {64, outstanding, non_blocking};
  return config;
}

template <class Memory>
struct bench {
  core::statistics figures;
  core::timeline timeline;
  std::deque<initiator> harts;
  core::bus wires;
  Memory ram;

  bench(std::vector<std::function<void(native_cpu&)>> programs, const native_cpu_config& config,
        const auto& memory_config)
      : wires("wires", {{"ram", ram_base, ram_bytes}}, programs.size(), ns(2)),
        ram("ram", memory_config, figures, timeline) {
    for (std::size_t h = 0; h < programs.size(); ++h) {
      auto& hart = harts.emplace_back("cpu" + std::to_string(h), config, programs[h], figures, timeline);
      hart.checker.to_target.bind(wires.from_initiator(h));
    }
    static_cast<core::memory_seat&>(ram).serve(wires.to_target("ram"));
    std::iota(ram.data(), ram.data() + ram_bytes, std::uint8_t{1});
  }
  ~bench() {
    for (const auto& hart : harts) {
      EXPECT_EQ(hart.checker.violations(), std::vector<std::string>{});
      EXPECT_EQ(hart.checker.under_way(), 0U);
      EXPECT_TRUE(hart.cpu.done());
    }
  }

  std::uint64_t count(const char* figure) const { return figures.count_of(figure); }
  // Whether all bytes are as they were filled.
  bool as_filled() {
    std::vector<std::uint8_t> expected(ram_bytes);
    std::iota(expected.begin(), expected.end(), std::uint8_t{1});
    return std::equal(expected.begin(), expected.end(), ram.data());
  }
};

const memory::simple_memory_config plain_memory{ram_bytes, ns(10), 1'000'000'000, 0, 0, true, {}};

// The same memory for non-blocking accesses: takes every request at once, answers when the data are there. Its debug,
// direct and host side, bytes and figures are the simple memory's.
class paced_memory : public sc_core::sc_module, public core::memory_seat {
 public:
  tlm_utils::simple_target_socket<paced_memory> socket;

  paced_memory(const sc_core::sc_module_name& name, const memory::simple_memory_config& config,
               core::statistics& figures, core::timeline& timeline)
      : sc_module(name), socket("socket"), inner_(this->basename(), config, figures, timeline), to_inner_("to_inner") {
    socket.register_nb_transport_fw(this, &paced_memory::nb_transport_fw);
    socket.register_get_direct_mem_ptr(this, &paced_memory::get_direct_mem_ptr);
    to_inner_.bind(inner_.socket);
    SC_HAS_PROCESS(paced_memory);
    SC_METHOD(respond);
    sensitive << due_.get_event();
    dont_initialize();
  }

  void serve(tlm::tlm_initiator_socket<>& from) override { from.bind(socket); }
  std::uint8_t* data() override { return inner_.data(); }
  std::uint64_t bytes() const override { return inner_.bytes(); }
  void update_figures() override {}

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase, sc_time& delay) {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
    payload.acquire();
    sc_time end = delay;
    to_inner_->b_transport(payload, end);
    due_.notify(payload, end);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }
  void respond() {
    while (tlm::tlm_generic_payload* payload = due_.get_next_transaction()) {
      tlm::tlm_phase phase = tlm::BEGIN_RESP;
      sc_time delay;
      socket->nb_transport_bw(*payload, phase, delay);
      payload->release();
    }
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return to_inner_->get_direct_mem_ptr(payload, dmi);
  }

  memory::simple_memory inner_;
  tlm_utils::simple_initiator_socket<paced_memory> to_inner_;
  tlm_utils::peq_with_get<tlm::tlm_generic_payload> due_{"due"};
};

// The bench of the parameter's memory, and what is the same for both.
template <class Body>
void on_simple_memory(bool non_blocking, std::vector<std::function<void(native_cpu&)>> programs, Body body) {
  if (non_blocking) {
    bench<paced_memory> b(std::move(programs), configuration(true), plain_memory);
    body(b);
  } else {
    bench<memory::simple_memory> b(std::move(programs), configuration(false), plain_memory);
    body(b);
  }
}

class way : public testing::TestWithParam<bool> {};

TEST_P(way, the_longer_of_memory_and_computation_passes) {
  std::vector<std::uint64_t> times;
  const auto program = [&](native_cpu& cpu) {
    const auto stream = [&](std::uint64_t amount, std::uint64_t address, std::uint64_t bytes) {
      cpu.spend(work, amount, {ram_base + address, bytes, read, weights});
      EXPECT_FALSE(cpu.last_access_failed());
      times.push_back(cpu.now_ns());
    };
    // Four bursts. At the memory from 2 to 66 and to 130, there at 76 and 140; the third leaves at 76, occupies it from
    // 130 to 194, there at 204; the fourth leaves at 140, 194 to 258, there at 268.
    stream(40, 0, 256);
    // Two at once, 76 and 140 after the begin, the third at 76 for 204. The fourth leaves when a quarter is computed,
    // at 250: 252 to 316, there at 326. Then the computation goes on, 268 + 1000.
    stream(1000, 256, 256);
    // 16, 64 and 16 bytes: 2 to 18, to 82, there at 28 and 92; the third leaves at 28, 82 to 98, there at 108:
    // 1268 + 108.
    stream(0, 0x30, 96);
    // One of 1 byte: 2 + 1 + 10.
    stream(5, 0x7ff, 1);
    // None: computation only.
    stream(5, 0, 0);
  };
  on_simple_memory(GetParam(), {program}, [&](auto& b) {
    sc_core::sc_start();
    EXPECT_EQ(times, (std::vector<std::uint64_t>{268, 1268, 1376, 1389, 1394}));
    EXPECT_EQ(b.count("cpu0.stream_bytes_read"), 256U + 256 + 96 + 1);
    EXPECT_EQ(b.count("cpu0.stream_bytes_written"), 0U);
    EXPECT_EQ(b.count("cpu0.stream_ps"), (268U + 326 + 108 + 13) * 1000);
    EXPECT_EQ(b.count("cpu0.exposed_ps"), (228U + 108 + 8) * 1000);
    EXPECT_EQ(b.count("cpu0.busy_ps"), 1'394'000U);
    EXPECT_EQ(b.count("cpu0.cycles"), 40U + 1000 + 5 + 5);
    EXPECT_EQ(b.count("cpu0.work.mac"), 40U + 1000 + 5 + 5);
    EXPECT_EQ(b.count("ram.accesses"), 4U + 4 + 3 + 1);
    EXPECT_EQ(b.count("ram.traffic.read.weights.raw_bytes"), 609U);
    EXPECT_TRUE(b.as_filled());
  });
}

TEST_P(way, two_harts_share_the_memory) {
  std::vector<std::uint64_t> ends(2);
  const auto program = [&](std::size_t hart) {
    return [&ends, hart](native_cpu& cpu) {
      cpu.spend(work, 40, {ram_base + 0x1000 * hart, 256, read, weights});
      ends[hart] = cpu.now_ns();
    };
  };
  on_simple_memory(GetParam(), {program(0), program(1)}, [&](auto&) {
    sc_core::sc_start();
    // The first two of the one are at the memory to 130 (there at 76 and 140), those of the other to 258 (204, 268).
    // The first's third leaves at 76, to 322; its fourth at 140, to 386, there at 396. The other's leave at 204 and
    // 268, to 450 and 514, there at 524.
    std::sort(ends.begin(), ends.end());
    EXPECT_EQ(ends, (std::vector<std::uint64_t>{396, 524}));
  });
}

TEST_P(way, writes_change_nothing) {
  const auto program = [](native_cpu& cpu) {
    cpu.spend(work, 10, {ram_base + 7, 500, written, gen::purpose::step_kv});
    EXPECT_FALSE(cpu.last_access_failed());
  };
  on_simple_memory(GetParam(), {program}, [&](auto& b) {
    // Somebody else writes while the bursts go by: to what has left, and to what has not.
    sc_core::sc_spawn([&] {
      sc_core::wait(ns(150));
      b.ram.data()[8] = 0xaa;
      b.ram.data()[500] = 0xbb;
    });
    sc_core::sc_start();
    EXPECT_EQ(b.ram.data()[8], 0xaa);
    EXPECT_EQ(b.ram.data()[500], 0xbb);
    b.ram.data()[8] = 9, b.ram.data()[500] = static_cast<std::uint8_t>(501);
    EXPECT_TRUE(b.as_filled());
    EXPECT_EQ(b.count("cpu0.stream_bytes_written"), 500U);
    EXPECT_EQ(b.count("ram.traffic.write.step_kv.raw_bytes"), 500U);
    EXPECT_EQ(b.count("ram.bytes_read"), 0U);
  });
}

TEST_P(way, only_main_memory_can_be_streamed) {
  const auto refused = [](native_cpu& cpu, std::uint64_t address, std::uint64_t bytes) {
    cpu.spend(work, 100, {address, bytes, written, weights});
    return cpu.last_access_failed();
  };
  const auto program = [&](native_cpu& cpu) {
    EXPECT_TRUE(refused(cpu, device_base, 64));
    EXPECT_TRUE(refused(cpu, ram_base + ram_bytes - 64, 65));
    EXPECT_TRUE(refused(cpu, ram_base - 1, 2));
    EXPECT_TRUE(refused(cpu, ram_base, ~std::uint64_t{0}));
    EXPECT_TRUE(refused(cpu, ~std::uint64_t{0}, 2));
    EXPECT_EQ(cpu.now_ns(), 0U);
    EXPECT_FALSE(refused(cpu, ram_base + ram_bytes - 64, 64));
  };
  on_simple_memory(GetParam(), {program}, [&](auto& b) {
    sc_core::sc_start();
    EXPECT_EQ(b.count("ram.accesses"), 1U);
    EXPECT_TRUE(b.as_filled());
  });
}

INSTANTIATE_TEST_SUITE_P(memory_stream, way, testing::Values(false, true),
                         [](const auto& chosen) { return chosen.param ? "non_blocking" : "blocking"; });

// On LPDDR5 nothing is added up by hand: what holds is that no bandwidth comes from nowhere and every byte is counted.
std::vector<double> lpddr5_times(std::size_t harts, bool writing) {
  constexpr std::uint64_t bytes = 256U << 10;
  std::vector<double> ends(harts);
  std::vector<std::function<void(native_cpu&)>> programs;
  for (std::size_t h = 0; h < harts; ++h) {
    programs.push_back([&ends, h, writing](native_cpu& cpu) {
      cpu.spend(work, 0, {ram_base + h * bytes, bytes, writing, weights});
      ends[h] = static_cast<double>(cpu.now_ns());
    });
  }
  native_cpu_config config = configuration(true, 64);
  config.stream.burst_bytes = 256;
  const lpddr5::memory_config nano = lpddr5::load_memory_config("nano-64dq");
  bench<lpddr5::controller> b(programs, config, nano);
  sc_core::sc_start();
  EXPECT_EQ(b.ram.under_way(), 0U);
  EXPECT_TRUE(b.as_filled());
  EXPECT_EQ(b.count(writing ? "ram.traffic.write.weights.raw_bytes" : "ram.traffic.read.weights.raw_bytes"),
            harts * bytes);
  const double peak_ns = static_cast<double>(harts * bytes) / 51.2;
  EXPECT_GT(*std::max_element(ends.begin(), ends.end()), peak_ns);
  // Three streams that meet in the banks get two thirds of the bandwidth, writes alone a quarter.
  EXPECT_LT(*std::max_element(ends.begin(), ends.end()), (writing ? 5 : 1.6) * peak_ns);
  return ends;
}

TEST(memory_stream, one_hart_on_lpddr5_comes_near_its_bandwidth) {
  lpddr5_times(1, read);
}

TEST(memory_stream, one_hart_writes_to_lpddr5) {
  lpddr5_times(1, written);
}

TEST(memory_stream, harts_on_lpddr5_get_equal_shares) {
  const auto ends = lpddr5_times(3, read);
  EXPECT_GT(*std::min_element(ends.begin(), ends.end()), 0.9 * *std::max_element(ends.begin(), ends.end()));
}

}  // namespace
}  // namespace dvp::cpu
