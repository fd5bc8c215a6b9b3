#include "tlm/lpddr5/engine/memory_system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

#include "testbenches/unit/lpddr5/engine/test_memory.h"

namespace dvp::lpddr5::test {
namespace {

bool same(const issued_command& a, const issued_command& b) {
  return std::tie(a.at, a.what, a.rank, a.bank, a.row, a.column) ==
         std::tie(b.at, b.what, b.rank, b.bank, b.row, b.column);
}

controller_config random_policies(random_numbers& random) {
  controller_config c;
  c.scheduler = static_cast<scheduler_policy>(random.below(3));
  c.page = static_cast<page_policy>(random.below(4));
  c.refresh = static_cast<refresh_policy>(random.below(3));
  c.refresh_postpone = static_cast<std::uint32_t>(random.below(3));
  c.refresh_pull_in = static_cast<std::uint32_t>(random.below(3));
  c.queue = static_cast<queue_layout>(random.below(3));
  c.read_queue = static_cast<std::uint32_t>(1 + random.below(16));
  c.write_queue = static_cast<std::uint32_t>(1 + random.below(16));
  c.write_high = static_cast<std::uint32_t>(1 + random.below(16));
  c.write_low = static_cast<std::uint32_t>(random.below(8));
  c.posted_writes = random.below(2) == 0;
  c.starvation_limit = static_cast<cycles>(random.below(3) * 200);
  c.power_down_after = static_cast<cycles>(random.below(3) * 20);
  c.self_refresh_after = static_cast<cycles>(random.below(3) * 500);
  return c;
}

struct scenario {
  controller_config policies;
  std::uint32_t channels;
  std::vector<std::pair<cycles, access>> accesses;
};

scenario random_scenario(std::uint64_t seed) {
  random_numbers random(seed);
  scenario s{random_policies(random), std::uint32_t{1} << random.below(2), {}};
  cycles at = 0;
  for (int i = 0; i < 400; ++i) {
    at += static_cast<cycles>(random.below(8) == 0 ? random.below(3000) : random.below(12));
    access a;
    a.address = random.below(1 << 14);
    a.bytes = 1 + random.below(200);
    a.write = random.below(3) == 0;
    s.accesses.emplace_back(at, a);
  }
  return s;
}

TEST(memory_system, does_the_same_however_often_time_is_advanced) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const scenario s = random_scenario(seed);
    test_memory whole(s.policies, s.channels);
    test_memory sliced(s.policies, s.channels);
    random_numbers random(seed + 1000);
    for (const auto& [at, a] : s.accesses) {
      while (random.below(3) != 0 && sliced.memory.now() < at) {
        const cycles next = sliced.memory.next_event();
        sliced.record.earliest = never;
        sliced.memory.advance(std::min(at, sliced.memory.now() + 1 + static_cast<cycles>(random.below(30))));
        ASSERT_GE(sliced.record.earliest, next);
      }
      whole.submit(at, a);
      sliced.submit(at, a);
    }
    whole.memory.drain();
    sliced.memory.drain();
    ASSERT_EQ(whole.record.log.size(), sliced.record.log.size());
    for (std::size_t c = 0; c < whole.record.log.size(); ++c) {
      const auto& left = whole.record.log[c];
      const auto& right = sliced.record.log[c];
      ASSERT_EQ(left.size(), right.size());
      for (std::size_t i = 0; i < left.size(); ++i) {
        ASSERT_TRUE(same(left[i], right[i]))
            << "channel " << c << ", command " << i << ": " << name_of(left[i].what) << " at " << left[i].at << " or "
            << name_of(right[i].what) << " at " << right[i].at;
      }
    }
    for (const auto& [id, answer] : whole.record.answers) {
      EXPECT_EQ(answer.finished, sliced.record.answers[id].finished) << id;
      EXPECT_EQ(answer.accepted, sliced.record.answers[id].accepted) << id;
    }
  }
}

TEST(memory_system, answers_every_access_once_and_in_time) {
  for (std::uint64_t seed = 100; seed <= 160; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const scenario s = random_scenario(seed);
    test_memory m(s.policies, s.channels);
    for (const auto& [at, a] : s.accesses) m.submit(at, a);
    m.memory.drain();
    EXPECT_EQ(m.memory.waiting(), 0U);
    EXPECT_EQ(m.memory.unfinished(), 0U);
    ASSERT_EQ(m.record.answers.size(), s.accesses.size());
    for (std::uint64_t id = 0; id < s.accesses.size(); ++id) {
      const auto& answer = m.record.answers[id];
      const auto& [at, a] = s.accesses[id];
      EXPECT_EQ(answer.accepts, 1) << id;
      EXPECT_EQ(answer.finishes, 1) << id;
      EXPECT_GE(answer.accepted, at) << id;
      EXPECT_GE(answer.finished, answer.accepted) << id;
    }
    const auto& f = m.memory.figures(m.memory.drain());
    for (const auto& c : f.channels) {
      std::uint64_t clocks = c.busy_cycles;
      for (const auto idle : c.idle_cycles) clocks += idle;
      EXPECT_LE(clocks, static_cast<std::uint64_t>(f.now));
      EXPECT_EQ(c.row_hits + c.row_misses + c.row_conflicts, c.read_bursts + c.write_bursts);
      const auto states =
          c.active_cycles + c.precharged_cycles + c.active_pd_cycles + c.precharge_pd_cycles + c.self_refresh_cycles;
      EXPECT_EQ(states, static_cast<std::uint64_t>(f.now));
    }
  }
}

// The order in which bursts of one address reach the DRAM is the order of arrival, reads among themselves apart.
TEST(memory_system, keeps_the_order_of_reads_and_writes_to_one_address) {
  for (std::uint64_t seed = 200; seed <= 240; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_numbers random(seed);
    controller_config policies = random_policies(random);
    policies.coalesce_writes = false;
    test_memory m(policies);
    std::map<std::uint64_t, std::string> arrived;
    cycles at = 0;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t address = 32 * random.below(12) + (random.below(2) << 16);
      at += static_cast<cycles>(random.below(10));
      // Half a burst: such a write cannot answer a read, which then has to wait for it.
      if (random.below(2) == 0) {
        m.write(at, address, 16);
        arrived[address] += 'w';
      } else {
        m.read(at, address);
        arrived[address] += 'r';
      }
    }
    m.memory.drain();
    std::map<std::uint64_t, std::string> issued;
    for (const auto& c : m.record.log[0]) {
      if (!is_column(c.what)) continue;
      location where;
      where.bank_group = c.bank / m.dev.shape.banks_per_group;
      where.bank = c.bank % m.dev.shape.banks_per_group;
      where.row = c.row;
      where.column = c.column;
      issued[m.memory.mapping().encode(where)] += is_write(c.what) ? 'w' : 'r';
    }
    EXPECT_EQ(arrived, issued);
  }
}

TEST(memory_system, answers_a_read_from_a_write_that_waits) {
  controller_config policies = without_refresh();
  policies.scheduler = scheduler_policy::fr_fcfs_grouped;
  test_memory m(policies);
  m.read(0, 1 << 20);  // keeps the turn with the reads
  m.write(0, 64);
  const auto read = m.read(1, 64);
  const auto part = m.read(1, 70, 4);
  m.memory.drain();
  EXPECT_EQ(m.record.answers[read].finished, m.dev.times.BL_n_S + 1);
  EXPECT_EQ(m.record.answers[part].finished, 2 * m.dev.times.BL_n_S + 1);
  EXPECT_EQ(m.memory.figures(1000).channels[0].forwarded_reads, 2U);
  const auto& log = m.record.log[0];
  EXPECT_EQ(std::count_if(log.begin(), log.end(), [](const auto& c) { return is_read(c.what); }), 1);
}

TEST(memory_system, lets_a_write_join_one_that_waits) {
  controller_config policies = without_refresh();
  test_memory m(policies);
  for (int i = 0; i < 8; ++i) m.write(0, 4 * static_cast<std::uint64_t>(i), 4);
  m.memory.drain();
  const auto& c = m.memory.figures(1000).channels[0];
  EXPECT_EQ(c.coalesced_writes, 7U);
  EXPECT_EQ(c.write_bursts, 1U);
}

// Endless hits to one row, one request for another row of the same bank: it waits no longer than the limit, the time to
// finish what is under way, and its own precharge and activate.
TEST(memory_system, does_not_let_hits_starve_a_miss) {
  for (const cycles limit : {0, 300}) {
    controller_config policies = without_refresh();
    policies.starvation_limit = limit;
    policies.read_queue = 16;
    test_memory m(policies, 1, "row-bank-column-channel");
    for (std::uint64_t i = 0; i < 4; ++i) m.read(0, 32 * (i % 64));
    const auto miss = m.read(0, std::uint64_t{16} * 2048);  // the next row of bank 0
    cycles now = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      m.read(now, 32 * (i % 64));
      now = m.memory.settle();
    }
    m.memory.drain();
    if (limit == 0) {
      EXPECT_GT(m.record.answers[miss].finished, 4000);
    } else {
      EXPECT_LT(m.record.answers[miss].finished, limit + 4 + m.dev.times.RTW_L + m.dev.times.RAS + m.dev.times.RPpb +
                                                     m.dev.times.RCD + m.dev.times.RL + 2);
    }
  }
}

// Reads as fast as they are accepted and one write, or the other way round: neither waits for ever.
TEST(memory_system, does_not_let_a_direction_starve_the_other) {
  for (const bool write : {false, true}) {
    controller_config policies = without_refresh();
    policies.scheduler = scheduler_policy::fr_fcfs_grouped;
    policies.posted_writes = false;
    policies.starvation_limit = 0;
    test_memory m(policies);
    random_numbers random(3);
    std::uint64_t lonely = 0;
    cycles now = 0;
    for (int i = 0; i < 5000; ++i) {
      if (i == 100) lonely = m.submit(now, test_memory::access_to(32 * random.below(1 << 20), 32, write));
      m.submit(now, test_memory::access_to(32 * random.below(1 << 20), 32, !write));
      now = m.memory.settle();
    }
    EXPECT_NE(m.record.answers[lonely].finished, never) << (write ? "write" : "read");
  }
}

// A tagged read of two columns waits for the writes to both of them, whichever leaves first.
TEST(memory_system, holds_a_tagged_read_behind_every_write_it_touches) {
  controller_config policies = without_refresh();
  policies.scheduler = scheduler_policy::fr_fcfs_grouped;
  policies.write_high = 2;
  policies.write_low = 1;
  test_memory m(policies, 1, "row-bank-column-channel");
  m.read(0, 0);
  m.write(0, 0);
  m.write(0, 32);
  access pair;
  pair.bytes = 64;
  pair.precision = 4;
  pair.tagged = true;
  m.submit(0, pair);
  m.memory.drain();
  cycles last_write = 0;
  cycles wide_read = 0;
  for (const auto& c : m.record.log[0]) {
    if (is_write(c.what)) last_write = c.at;
    if (is_read(c.what) && c.columns == 2) wide_read = c.at;
  }
  EXPECT_GT(wide_read, last_write);
}

// What the write buffer answers takes burst slots too.
TEST(memory_system, does_not_answer_from_the_buffer_faster_than_bursts_go) {
  test_memory m(without_refresh());
  cycles now = 0;
  for (int i = 0; i < 10000; ++i) {
    m.write(now, 0);
    now = m.memory.settle();
  }
  EXPECT_GE(m.memory.drain(), 10000 * m.dev.times.BL_n_S - 100);
}

TEST(memory_system, gives_up_on_timing_that_lets_nothing_through) {
  device d = lpddr5_6400();
  d.times.REFI = d.times.RFCab + 2;
  test_memory m(controller_config{}, 1, "row-bank-column-channel", d);
  m.read(400, 0);
  EXPECT_THROW(m.memory.drain(), std::runtime_error);
}

TEST(memory_system, finishes_posted_writes_when_they_are_accepted) {
  controller_config policies = without_refresh();
  test_memory posted(policies);
  EXPECT_EQ(posted.record.answers[posted.write(5, 0)].finished, 5);
  policies.posted_writes = false;
  test_memory late(policies);
  const auto id = late.write(5, 0);
  late.memory.drain();
  const timing& t = late.dev.times;
  EXPECT_EQ(late.record.answers[id].finished, 5 + t.RCD + t.WL + t.BL_n_min);
}

TEST(memory_system, adds_the_delays_in_front_and_behind) {
  controller_config policies = without_refresh();
  policies.frontend_cycles = 7;
  policies.backend_cycles = 11;
  test_memory m(policies);
  const auto id = m.read(100, 0);
  m.memory.drain();
  const timing& t = m.dev.times;
  EXPECT_EQ(m.record.answers[id].accepted, 100);
  EXPECT_EQ(m.record.answers[id].finished, 100 + 7 + t.RCD + t.RL + t.BL_n_min + 11);
}

}  // namespace
}  // namespace dvp::lpddr5::test
