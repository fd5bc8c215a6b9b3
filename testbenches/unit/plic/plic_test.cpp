// The interrupt controller against a reference that keeps each source's state in words of the specification, with
// random traffic; and the cases that drivers rely on, one by one.
#include "tlm/plic/plic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "dvp_gen/mailbox_regs.h"
#include "testbenches/lib/register_driver.h"
#include "tlm/core/bus.h"
#include "tlm/mailbox/mailbox.h"

namespace dvp::plic {
namespace {

namespace reg = gen::plic;

struct bench {
  plic device;
  sc_core::sc_vector<sc_core::sc_signal<bool>> lines{"line", plic::sources + 1};  // by source; 0 is not used
  sc_core::sc_vector<sc_core::sc_signal<bool>> outputs;
  test::register_driver registers{device};

  explicit bench(std::uint32_t contexts) : device("plic", contexts), outputs("output", contexts) {
    // Sources from 28 on stay open.
    for (std::uint32_t id = 1; id < 28; ++id) device.source(id).bind(lines[id]);
    for (std::uint32_t c = 0; c < contexts; ++c) device.interrupt[c].bind(outputs[c]);
    test::settle();
  }
  void set(std::uint32_t id, bool high) {
    lines[id].write(high);
    test::settle();
  }
  bool output(std::uint32_t context) {
    test::settle();
    return outputs[context].read();
  }
  void priority(std::uint32_t id, std::uint32_t level) { registers.write(reg::source::priority::at(id), level); }
  void enable(std::uint32_t context, std::uint32_t mask) { registers.write(reg::enables::word::at(context), mask); }
  void threshold(std::uint32_t context, std::uint32_t level) {
    registers.write(reg::context::threshold::at(context), level);
  }
  std::uint32_t claim(std::uint32_t context) {
    const std::uint32_t id = registers.read(reg::context::claim::at(context));
    test::settle();
    return id;
  }
  void complete(std::uint32_t context, std::uint32_t id) {
    registers.write(reg::context::claim::at(context), id);
    test::settle();
  }
  std::uint32_t pending() { return registers.read(reg::pending::offset); }
};

TEST(plic, claim_clear_complete) {
  bench b(1);
  b.priority(3, 2);
  b.enable(0, 1 << 3);
  EXPECT_FALSE(b.output(0));
  b.set(3, true);
  EXPECT_TRUE(b.output(0));
  EXPECT_EQ(b.registers.debug_read(reg::context::claim::at(0)), 3U);
  EXPECT_EQ(b.registers.debug_read(reg::context::claim::at(0)), 3U) << "a debug read claimed";
  EXPECT_EQ(b.claim(0), 3U);
  EXPECT_FALSE(b.output(0)) << "in service";
  EXPECT_EQ(b.claim(0), 0U);
  b.set(3, false);
  b.complete(0, 3);
  EXPECT_FALSE(b.output(0));
  EXPECT_EQ(b.pending(), 0U);
}

TEST(plic, a_line_still_high_at_completion_asks_again) {
  bench b(1);
  b.priority(3, 1);
  b.enable(0, 1 << 3);
  b.set(3, true);
  EXPECT_EQ(b.claim(0), 3U);
  b.complete(0, 3);
  EXPECT_TRUE(b.output(0));
  EXPECT_EQ(b.claim(0), 3U);
}

TEST(plic, a_request_stays_although_the_line_falls) {
  bench b(1);
  b.priority(3, 1);
  b.set(3, true);
  b.set(3, false);
  EXPECT_EQ(b.pending(), 1U << 3);
  b.enable(0, 1 << 3);
  EXPECT_TRUE(b.output(0));
  EXPECT_EQ(b.claim(0), 3U);
  b.set(3, true);
  b.set(3, false);
  EXPECT_EQ(b.pending(), 0U) << "a pulse while in service is no request";
  b.complete(0, 3);
  EXPECT_EQ(b.pending(), 0U);
}

TEST(plic, the_threshold_limits_the_line_and_not_the_claim) {
  bench b(1);
  b.priority(5, 3);
  b.enable(0, 1 << 5);
  b.threshold(0, 3);
  b.set(5, true);
  EXPECT_FALSE(b.output(0));
  b.threshold(0, 2);
  EXPECT_TRUE(b.output(0));
  b.threshold(0, 7);
  EXPECT_FALSE(b.output(0));
  EXPECT_EQ(b.claim(0), 5U);
}

TEST(plic, priority_zero_never_interrupts) {
  bench b(1);
  b.enable(0, ~0U);
  b.set(5, true);
  EXPECT_EQ(b.pending(), 1U << 5);
  EXPECT_FALSE(b.output(0));
  EXPECT_EQ(b.claim(0), 0U);
}

TEST(plic, two_contexts_race_for_one_source) {
  bench b(2);
  b.priority(9, 1);
  b.enable(0, 1 << 9);
  b.enable(1, 1 << 9);
  b.set(9, true);
  EXPECT_TRUE(b.output(0) && b.output(1));
  EXPECT_EQ(b.claim(1), 9U);
  EXPECT_FALSE(b.output(0));
  EXPECT_EQ(b.claim(0), 0U);
  b.complete(0, 9);
  EXPECT_TRUE(b.output(1)) << "any context that has the source enabled completes it";
}

TEST(plic, completions_of_others_are_ignored) {
  bench b(2);
  b.priority(9, 1);
  b.enable(0, 1 << 9);
  b.set(9, true);
  EXPECT_EQ(b.claim(0), 9U);
  b.complete(1, 9);  // not enabled there
  for (const std::uint32_t id : {0U, 8U, 32U, 41U, ~0U}) b.complete(0, id);
  EXPECT_EQ(b.pending(), 0U);
  b.complete(0, 9);
  EXPECT_EQ(b.pending(), 1U << 9);
}

TEST(plic, there_is_no_source_zero_and_fields_end_where_they_end) {
  bench b(1);
  b.priority(0, 7);
  EXPECT_EQ(b.registers.read(reg::source::priority::at(0)), 0U);
  b.priority(31, 0xffff'ffff);
  EXPECT_EQ(b.registers.read(reg::source::priority::at(31)), 7U);
  b.enable(0, ~0U);
  EXPECT_EQ(b.registers.read(reg::enables::word::at(0)), 0xffff'fffeU);
  b.threshold(0, 0xff);
  EXPECT_EQ(b.registers.read(reg::context::threshold::at(0)), 7U);
  EXPECT_EQ(b.registers.try_write(reg::pending::offset, 0), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.registers.try_write(0x1004, 0), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.registers.read(reg::context::claim::at(3)), 0U) << "a context that is not there";
}

TEST(plic, a_wrong_number_of_contexts_is_fatal) {
  test::throw_on_fatal();
  try {
    plic device("plic", 0);
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "plic: 0 contexts, the registers serve 1 to 4");
  }
}

// A processor that serves the mailbox's interrupt over a bus with latency, as drivers do it.
class serving_cpu : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<serving_cpu> socket{"socket"};
  sc_core::sc_in<bool> interrupt{"interrupt"};
  std::vector<std::string> log;

  explicit serving_cpu(const sc_core::sc_module_name& name) : sc_module(name) {
    SC_HAS_PROCESS(serving_cpu);
    SC_THREAD(serve);
  }

 private:
  std::uint32_t transfer(tlm::tlm_command command, std::uint64_t address, std::uint32_t value) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(address);
    payload.set_data_ptr(reinterpret_cast<std::uint8_t*>(&value));
    payload.set_data_length(4);
    payload.set_streaming_width(4);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(payload, delay);
    EXPECT_TRUE(payload.is_response_ok());
    EXPECT_EQ(delay, sc_core::SC_ZERO_TIME) << "a register gives time back";
    return value;
  }
  void note(const std::string& what) {
    log.push_back(std::to_string(sc_core::sc_time_stamp().value() / 1000) + " " + what);
  }
  void serve() {
    transfer(tlm::TLM_WRITE_COMMAND, reg::source::priority::at(2), 1);
    transfer(tlm::TLM_WRITE_COMMAND, reg::enables::word::at(0), 1 << 2);
    note("waits");
    for (;;) {
      while (!interrupt.read()) wait(interrupt.value_changed_event());
      note("interrupted");
      const std::uint32_t id = transfer(tlm::TLM_READ_COMMAND, reg::context::claim::at(0), 0);
      note("claims " + std::to_string(id));
      transfer(tlm::TLM_WRITE_COMMAND, 0x1000'0000 + gen::mailbox::request_state::offset, 1);
      transfer(tlm::TLM_WRITE_COMMAND, reg::context::claim::at(0), id);
      note("completes");
    }
  }
};

TEST(plic, an_interrupt_from_a_device_over_a_bus_comes_once) {
  plic device("plic", 1);
  mailbox::mailbox box("mailbox");
  serving_cpu cpu("cpu");
  core::bus bus("bus", {{"plic", 0, reg::window_bytes}, {"mailbox", 0x1000'0000, gen::mailbox::window_bytes}}, 1,
                sc_core::sc_time(10, sc_core::SC_NS));
  sc_core::sc_signal<bool> request("request");
  sc_core::sc_signal<bool> interrupt("interrupt");
  cpu.socket.bind(bus.from_initiator(0));
  bus.to_target("plic").bind(device.socket);
  bus.to_target("mailbox").bind(box.socket);
  box.interrupt.bind(request);
  device.source(2).bind(request);
  device.interrupt[0].bind(interrupt);
  cpu.interrupt.bind(interrupt);
  sc_core::sc_start(100, sc_core::SC_NS);
  box.set_request(1);
  sc_core::sc_start(100, sc_core::SC_NS);
  box.set_request(2);
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(cpu.log, (std::vector<std::string>{"20 waits", "100 interrupted", "110 claims 2", "130 completes",
                                               "200 interrupted", "210 claims 2", "230 completes"}));
}

// One source in the words of the specification.
struct reference_source {
  bool line = false;
  bool request = false;     // interrupt pending
  bool in_service = false;  // the gateway waits for a completion
  std::uint32_t priority = 0;

  void look() { request = request || (line && !in_service); }
};

class reference {
 public:
  reference_source sources[plic::sources + 1];
  bool enabled[plic::most_contexts][plic::sources + 1] = {};
  std::uint32_t thresholds[plic::most_contexts] = {};

  // Pending enabled sources above a priority, best first.
  std::vector<std::uint32_t> ranking(std::uint32_t context, std::uint32_t above) const {
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 1; id <= plic::sources; ++id) {
      if (sources[id].request && enabled[context][id] && sources[id].priority > above) ids.push_back(id);
    }
    std::stable_sort(ids.begin(), ids.end(),
                     [this](std::uint32_t a, std::uint32_t b) { return sources[a].priority > sources[b].priority; });
    return ids;
  }
  bool output(std::uint32_t context) const { return !ranking(context, thresholds[context]).empty(); }
  std::uint32_t claim(std::uint32_t context) {
    const auto ids = ranking(context, 0);
    if (ids.empty()) return 0;
    sources[ids.front()].request = false;
    sources[ids.front()].in_service = true;
    return ids.front();
  }
  void complete(std::uint32_t context, std::uint32_t id) {
    if (id > plic::sources || !enabled[context][id]) return;
    sources[id].in_service = false;
    sources[id].look();
  }
};

TEST(plic, matches_the_reference_under_random_traffic) {
  const std::uint32_t seed = 1717;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t count) { return static_cast<std::uint32_t>(random()) % count; };
  constexpr std::uint32_t contexts = 3;
  bench b(contexts);
  reference expected;
  std::vector<std::uint32_t> claimed[contexts];
  std::uint64_t claims = 0;
  std::uint64_t raised = 0;
  for (int step = 0; step < 30'000; ++step) {
    const std::uint32_t id = 1 + pick(27);
    const std::uint32_t context = pick(contexts);
    switch (pick(9)) {
      case 0:
      case 1: {
        const bool high = pick(3) == 0;
        b.set(id, high);
        expected.sources[id].line = high;
        expected.sources[id].look();
        break;
      }
      case 2: {
        const std::uint32_t level = pick(8);
        b.priority(id, level);
        expected.sources[id].priority = level;
        break;
      }
      case 3: {
        const auto mask = static_cast<std::uint32_t>(random());
        b.enable(context, mask);
        for (std::uint32_t s = 1; s <= plic::sources; ++s) expected.enabled[context][s] = (mask >> s & 1) != 0;
        break;
      }
      case 4: {
        const std::uint32_t level = pick(10) == 0 ? 7 : pick(4);
        b.threshold(context, level);
        expected.thresholds[context] = level;
        break;
      }
      case 5:
      case 6: {
        const std::uint32_t got = b.claim(context);
        ASSERT_EQ(got, expected.claim(context)) << "step " << step;
        if (got != 0) {
          claimed[context].push_back(got);
          ++claims;
        }
        break;
      }
      default: {
        std::uint32_t done = pick(20) == 0 ? pick(64) : id;
        if (!claimed[context].empty() && pick(4) != 0) {
          const std::uint32_t which = pick(static_cast<std::uint32_t>(claimed[context].size()));
          done = claimed[context][which];
          claimed[context].erase(claimed[context].begin() + which);
        }
        b.complete(context, done);
        expected.complete(context, done);
      }
    }
    test::settle();
    std::uint32_t pending = 0;
    for (std::uint32_t s = 1; s <= plic::sources; ++s) pending |= expected.sources[s].request ? 1U << s : 0;
    ASSERT_EQ(b.pending(), pending) << "step " << step;
    for (std::uint32_t c = 0; c < contexts; ++c) {
      ASSERT_EQ(b.outputs[c].read(), expected.output(c)) << "step " << step << " context " << c;
      raised += b.outputs[c].read() ? 1 : 0;
    }
  }
  EXPECT_GT(claims, 1000U);
  EXPECT_GT(raised, 1000U);
}

}  // namespace
}  // namespace dvp::plic
