// Exact times, from the published arithmetic: RL 17, RCD 15, RPpb 15, a burst 2 clocks of 1.25 ns.
#include <gtest/gtest.h>

#include "testbenches/lib/nb_initiator.h"
#include "testbenches/lib/tlm_initiator.h"
#include "testbenches/unit/lpddr5/controller/bench.h"
#include "tlm/core/protocol_checker.h"

namespace dvp::lpddr5::test {
namespace {

using dvp::test::nb_access;
using dvp::test::nb_initiator;
using sc_core::sc_time;

sc_time ps(double value) {
  return {value, sc_core::SC_PS};
}

struct bench {
  controller memory;
  nb_initiator initiator{"initiator"};
  core::protocol_checker checker{"checker"};
  dvp::test::tlm_initiator blocking{"blocking"};

  explicit bench(const memory_shape& shape = {}) : memory("memory", make_memory(shape)) {
    initiator.socket.bind(checker.from_initiator);
    checker.to_target.bind(memory.socket);
    blocking.socket.bind(memory.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  ~bench() {
    EXPECT_EQ(checker.violations(), std::vector<std::string>{});
    EXPECT_EQ(checker.under_way(), 0U);
  }

  nb_access read(std::uint64_t address, std::size_t bytes = 32) {
    nb_access a;
    a.address = address;
    a.data.resize(bytes);
    initiator.send(a);
    sc_core::sc_start();
    EXPECT_TRUE(a.done);
    return a;
  }
  sc_time blocking_read(std::uint64_t address, const sc_time& delay) {
    std::vector<std::uint8_t> data(32);
    return blocking.read(address, data, {.delay = delay}).delay;
  }
  std::uint64_t address_of(location where) const { return memory.system().mapping().encode(where); }
};

constexpr double closed = 40'000 + 2'500;  // command to first data, and the burst
constexpr double hit = 21'250 + 2'500;
constexpr double conflict = 58'750 + 2'500;

TEST(controller_timing, a_single_read_takes_the_published_latency_and_its_burst) {
  bench b;
  const std::uint64_t row0 = b.address_of({.row = 0}), row1 = b.address_of({.row = 1});
  const nb_access first = b.read(row0);
  EXPECT_EQ(first.responded - first.arrival, ps(closed));
  EXPECT_EQ(first.request_over, first.arrival) << "the queue was empty";
  sc_core::sc_start(ps(1'000'000));
  const nb_access second = b.read(row0 + 32 * 4);
  EXPECT_EQ(second.responded - second.arrival, ps(hit));
  sc_core::sc_start(ps(1'000'000));
  const nb_access third = b.read(row1);
  EXPECT_EQ(third.responded - third.arrival, ps(conflict));
  // Between two edges: the access arrives at the next one.
  sc_core::sc_start(ps(1'000'000 + 1) - sc_core::sc_time_stamp() % ck(1));
  const nb_access late = b.read(row1);
  EXPECT_EQ(late.responded - late.arrival, ps(1249 + hit));
}

TEST(controller_timing, b_transport_takes_the_same_times_and_respects_local_time) {
  bench b;
  const std::uint64_t row0 = b.address_of({.row = 0}), row1 = b.address_of({.row = 1});
  EXPECT_EQ(b.blocking_read(row0, sc_core::SC_ZERO_TIME), ps(closed));
  EXPECT_EQ(b.blocking_read(row0, ps(1'000'000)), ps(1'000'000 + hit));
  EXPECT_EQ(b.blocking_read(row1, ps(2'000'000)), ps(2'000'000 + conflict));
  EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::SC_ZERO_TIME);
  // Posted: accepted at once.
  EXPECT_EQ(b.blocking.write(row1, std::vector<std::uint8_t>(32), {.delay = ps(3'000'000)}).delay, ps(3'000'000));
}

TEST(controller_timing, back_pressure_ends_when_a_place_is_free) {
  bench b({.queue = 2});
  std::deque<nb_access> reads(4);
  const std::uint64_t row0 = b.address_of({.row = 0});
  std::uint64_t column = 0;
  for (auto& a : reads) {
    a.address = row0 + 32 * 4 * column++;  // bursts of one bank group: 4 clocks apart
    a.data.resize(32);
  }
  std::size_t next = 0;
  b.initiator.on_done = [](nb_access&) {};
  while (next < reads.size()) {
    while (!b.initiator.free_from()) sc_core::sc_start(ck(1));
    const sc_time from = *b.initiator.free_from();
    if (from > sc_core::sc_time_stamp()) sc_core::sc_start(from - sc_core::sc_time_stamp());
    b.initiator.send(reads[next++]);
  }
  sc_core::sc_start();
  // The first column command leaves the queue RL + 2 clocks before its last beat.
  const sc_time first_column = ps(closed) - ck(17 + 2);
  EXPECT_EQ(reads[1].request_over, sc_core::SC_ZERO_TIME);
  EXPECT_TRUE(reads[2].accepted_later);
  EXPECT_GE(reads[2].request_over, first_column);
  EXPECT_LE(reads[2].request_over, first_column + ck(1));
  for (std::size_t i = 1; i < reads.size(); ++i) EXPECT_EQ(reads[i].responded - reads[i - 1].responded, ck(4)) << i;
}

TEST(controller_timing, an_initiator_gets_one_response_at_a_time) {
  bench b;
  b.initiator.end = [] { return nb_initiator::ending{nb_initiator::ending::way::later, ps(100'000)}; };
  std::deque<nb_access> reads(2);
  for (std::size_t i = 0; i < 2; ++i) {
    reads[i].address = b.address_of({.row = 0}) + 128 * i;
    reads[i].data.resize(32);
    b.initiator.send(reads[i]);
  }
  sc_core::sc_start();
  EXPECT_EQ(reads[0].responded, ps(closed));
  EXPECT_EQ(reads[1].responded, ps(closed + 100'000));
}

TEST(controller_timing, a_request_ends_when_accepted_even_if_its_response_has_to_wait) {
  bench b({.queue = 2});
  b.initiator.end = [] { return nb_initiator::ending{nb_initiator::ending::way::later, ps(5'000'000)}; };
  std::deque<nb_access> writes(4);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    writes[i].command = tlm::TLM_WRITE_COMMAND;
    writes[i].address = b.address_of({.row = static_cast<std::uint32_t>(i)});  // each a row conflict
    writes[i].data.resize(32);
    while (!b.initiator.free_from()) sc_core::sc_start(ck(1));
    b.initiator.send(writes[i]);
    sc_core::sc_start(ck(2));  // no faster than bursts follow each other
  }
  sc_core::sc_start();
  EXPECT_TRUE(writes[0].completed_early);
  EXPECT_TRUE(writes[1].completed_early);
  EXPECT_TRUE(writes[2].accepted_later);
  EXPECT_EQ(writes[2].request_over, writes[2].responded) << "accepted and posted at once";
  EXPECT_TRUE(writes[3].accepted_later);
  EXPECT_EQ(writes[3].responded, writes[2].responded + ps(5'000'000));
  EXPECT_LT(writes[3].request_over, writes[2].responded + ps(1'000'000));
}

TEST(controller_timing, a_long_access_is_as_long_as_its_bursts) {
  bench b;
  // 1 KiB across four bank groups: a burst each 2 clocks once the rows are open.
  const std::uint64_t row0 = b.address_of({.row = 0});
  b.read(row0, 1024);
  sc_core::sc_start(ps(1'000'000));
  const nb_access again = b.read(row0, 1024);
  EXPECT_EQ(again.responded - again.arrival, ps(hit) + ck(2 * 31));
}

}  // namespace
}  // namespace dvp::lpddr5::test
