// Random non-blocking traffic of three initiators that end their responses when they like, against a plain byte array
// that is accessed in the order of arrival.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "testbenches/lib/nb_initiator.h"
#include "testbenches/unit/lpddr5/controller/bench.h"
#include "tlm/core/bus.h"
#include "tlm/core/protocol_checker.h"
#include "tlm/lpddr5/controller.h"

namespace dvp::lpddr5::test {
namespace {

using dvp::test::nb_access;
using dvp::test::nb_initiator;
using sc_core::sc_time;

constexpr std::uint64_t area = 4096;  // small, so that accesses meet
constexpr int accesses_each = 4000;

class random_initiator : public nb_initiator {
 public:
  std::deque<nb_access> sent;
  std::vector<std::uint64_t> order;  // of all initiators' calls

  random_initiator(const sc_core::sc_module_name& name, std::uint32_t seed, std::uint64_t& calls, int slowness)
      : nb_initiator(name), random_(seed), calls_(calls), slowness_(slowness) {
    end = [this] { return pick_ending(); };
    SC_HAS_PROCESS(random_initiator);
    SC_THREAD(run);
  }

 private:
  std::uint32_t pick(std::uint32_t from, std::uint32_t to) {
    return from + static_cast<std::uint32_t>(random_()) % (to - from + 1);
  }
  // Half of them on a coarse grid, so that initiators meet at the same moment.
  sc_time random_time() {
    return {static_cast<double>(pick(0, 1) == 0 ? pick(0, 60'000) : 10'000 * pick(0, 6)), sc_core::SC_PS};
  }

  ending pick_ending() {
    const bool slow = pick(0, 9) < static_cast<std::uint32_t>(slowness_);
    const sc_time delay = slow ? random_time() : sc_core::SC_ZERO_TIME;
    switch (pick(0, 2)) {
      case 0:
        return {ending::way::completed, delay};
      case 1:
        return {ending::way::updated, delay};
      default:
        return {ending::way::later, delay};
    }
  }

  nb_access pick_access() {
    nb_access a;
    a.command = pick(0, 99) == 0  ? tlm::TLM_IGNORE_COMMAND
                : pick(0, 1) == 0 ? tlm::TLM_WRITE_COMMAND
                                  : tlm::TLM_READ_COMMAND;
    a.data.resize(pick(0, 3) == 0 ? pick(1, 300) : pick(1, 32));
    for (auto& byte : a.data) byte = static_cast<std::uint8_t>(random_());
    a.address = pick(0, area - 1 - static_cast<std::uint32_t>(a.data.size()));
    if (pick(0, 5) == 0) {
      a.enables.resize(pick(1, 9));
      for (auto& enable : a.enables) enable = pick(0, 1) == 0 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
    }
    if (pick(0, 7) == 0) a.streaming_width = pick(1, 48);
    if (pick(0, 3) == 0) a.tag.emplace(gen::precision::q8, gen::purpose::weights, 0);
    return a;
  }

  void run() {
    for (int i = 0; i < accesses_each; ++i) {
      if (pick(0, 3) == 0) wait(random_time());
      while (!free_from()) wait(changed());
      sc_time delay = pick(0, 3) == 0 ? random_time() : sc_core::SC_ZERO_TIME;
      const sc_time from = *free_from();
      if (from > sc_core::sc_time_stamp()) {
        if (pick(0, 1) == 0) {
          wait(from - sc_core::sc_time_stamp());
        } else {
          delay += from - sc_core::sc_time_stamp();
        }
      }
      sent.push_back(pick_access());
      order.push_back(calls_++);
      send(sent.back(), delay);
    }
  }

  std::mt19937 random_;
  std::uint64_t& calls_;
  int slowness_;
};

struct asked {
  sc_time arrival;
  std::uint64_t order;
  nb_access* what;
  std::vector<std::uint8_t> written;
};

enum class wiring { own_sockets, one_bus };

void run_traffic(const memory_shape& shape, std::uint32_t seed, wiring wires = wiring::own_sockets) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  controller memory("memory", make_memory(shape));
  core::bus bus("bus", {{"memory", 0, area}}, 3, sc_time(5, sc_core::SC_NS));
  bus.to_target("memory").bind(memory.socket);
  std::uint64_t calls = 0;
  std::vector<std::unique_ptr<random_initiator>> initiators;
  std::vector<std::unique_ptr<core::protocol_checker>> checkers;
  std::vector<std::unique_ptr<nb_initiator>> unused;  // a bus has no open ends
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i);
    initiators.push_back(std::make_unique<random_initiator>(("initiator" + number).c_str(),
                                                            seed + static_cast<std::uint32_t>(i), calls, 4 * i));
    checkers.push_back(std::make_unique<core::protocol_checker>(("checker" + number).c_str()));
    initiators.back()->socket.bind(checkers.back()->from_initiator);
    if (wires == wiring::one_bus) {
      checkers.back()->to_target.bind(bus.from_initiator(static_cast<std::size_t>(i)));
    } else {
      unused.push_back(std::make_unique<nb_initiator>(("unused" + number).c_str()));
      unused.back()->socket.bind(bus.from_initiator(static_cast<std::size_t>(i)));
      checkers.back()->to_target.bind(memory.socket);
    }
  }
  std::vector<asked> all;
  sc_core::sc_start();

  std::size_t waited = 0, early = 0;
  for (auto& initiator : initiators) {
    ASSERT_EQ(initiator->sent.size(), static_cast<std::size_t>(accesses_each)) << "hangs";
    for (std::size_t i = 0; i < initiator->sent.size(); ++i) {
      nb_access& a = initiator->sent[i];
      ASSERT_TRUE(a.done);
      ASSERT_EQ(a.status, tlm::TLM_OK_RESPONSE);
      ASSERT_GE(a.responded, a.arrival);
      waited += a.accepted_later ? 1 : 0;
      early += a.completed_early ? 1 : 0;
      all.push_back({a.arrival, initiator->order[i], &a, a.data});
    }
    EXPECT_EQ(initiator->payloads_out(), 0U);
  }
  for (const auto& checker : checkers) {
    EXPECT_EQ(checker->violations(), std::vector<std::string>{});
    EXPECT_EQ(checker->under_way(), 0U);
  }
  EXPECT_EQ(memory.under_way(), 0U);
  EXPECT_GT(waited, 1000U) << "no back-pressure";
  EXPECT_GT(early, 20U);

  std::sort(all.begin(), all.end(), [](const asked& a, const asked& b) {
    return a.arrival != b.arrival ? a.arrival < b.arrival : a.order < b.order;
  });
  std::vector<std::uint8_t> model(area, 0);
  for (const asked& one : all) {
    const nb_access& a = *one.what;
    if (a.command == tlm::TLM_IGNORE_COMMAND) continue;
    const std::size_t width = a.streaming_width == 0 ? a.data.size() : a.streaming_width;
    for (std::size_t i = 0; i < a.data.size(); ++i) {
      if (!a.enables.empty() && a.enables[i % a.enables.size()] == TLM_BYTE_DISABLED) continue;
      std::uint8_t& stored = model[a.address + i % width];
      if (a.command == tlm::TLM_WRITE_COMMAND) {
        stored = one.written[i];
      } else {
        ASSERT_EQ(a.data[i], stored) << "read number " << one.order << " arrived at " << one.arrival << " address "
                                     << a.address + i % width;
      }
    }
  }
  EXPECT_EQ(std::vector<std::uint8_t>(memory.data(), memory.data() + area), model);

  memory.update_figures();
  const auto& figures = memory.statistics();
  EXPECT_EQ(figures.count_of("memory.latency.read_count") + figures.count_of("memory.latency.write_count"),
            figures.count_of("memory.accesses"));
}

TEST(controller_traffic, one_channel_with_short_queues) {
  run_traffic({.channels = 1, .queue = 4}, 1101);
}
TEST(controller_traffic, two_channels_with_refresh_and_grouped_writes) {
  run_traffic(
      {.channels = 2, .refresh = refresh_policy::all_bank, .scheduler = scheduler_policy::fr_fcfs_grouped, .queue = 8},
      1102);
}
TEST(controller_traffic, writes_that_are_answered_on_the_bus) {
  run_traffic({.channels = 1, .refresh = refresh_policy::per_bank, .queue = 4, .posted_writes = false}, 1103);
}

TEST(controller_traffic, initiators_behind_a_bus_share_a_socket) {
  run_traffic({.channels = 1, .refresh = refresh_policy::all_bank, .queue = 4}, 1104, wiring::one_bus);
}

}  // namespace
}  // namespace dvp::lpddr5::test
