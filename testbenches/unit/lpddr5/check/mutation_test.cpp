// Loosens every rule row by one clock, one at a time, and wants the checker to notice: in a workload through the whole
// memory, else in a random walk over the rules alone. A row that neither shows must be listed with what dominates it.
#include <gtest/gtest.h>

#include <iostream>
#include <set>
#include <string>
#include <vector>

#include "testbenches/unit/lpddr5/check/random_walk.h"
#include "testbenches/unit/lpddr5/check/typed_devices.h"
#include "tlm/lpddr5/check/command_checker.h"
#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {
namespace {

using test::random_walk;

// Violations other than of refresh counts, which the walk does not keep and shortened refresh intervals bend.
std::uint64_t broken(const command_checker& checker) {
  std::uint64_t n = checker.violations();
  for (const auto& [name, count] : checker.by_name()) {
    if (name.starts_with("refresh")) n -= count;
  }
  return n;
}

struct unheard : access_sink {
  void accepted(std::uint64_t, cycles) override {}
  void finished(std::uint64_t, cycles) override {}
};

struct workload {
  device memory;
  controller_config config;
  double writes;
  cycles pause;  // now and then, so that ranks fall asleep
  std::uint64_t rows;
};

// A refresh every few hundred clocks, so that it meets everything else often; and tFAW and RTW_L longer than what else
// keeps activates and turnarounds apart at 6400.
device often_refreshed(device d, std::uint32_t burst_length = 16) {
  if (burst_length == 32) {
    d.shape.burst_length = 32;
    d.times.BL_n_min = 6, d.times.BL_n_max = 8, d.times.BL_n_L = 8;
    d.times.RTW_S = 16;
  }
  d.times.RTW_L = d.times.RTW_S + 2;
  d.times.FAW = 20;
  d.times.REFI = 800, d.times.REFIpb = 100;
  return d;
}

std::vector<workload> workloads() {
  std::vector<workload> all;
  for (const refresh_policy refresh : {refresh_policy::all_bank, refresh_policy::per_bank}) {
    for (const page_policy page : {page_policy::open, page_policy::closed}) {
      for (const cycles doze : {0, 1}) {
        controller_config c;
        c.refresh = refresh;
        c.page = page;
        c.refresh_pull_in = 2;
        c.power_down_after = doze;
        c.self_refresh_after = doze == 0 ? 0 : page == page_policy::open ? 40 : 1;
        all.push_back({often_refreshed(test::typed_6400(2)), c, 0.4, doze * 300, 4});
      }
    }
  }
  controller_config plain;
  plain.refresh = refresh_policy::none;
  all.push_back({often_refreshed(test::typed_6400(), 32), plain, 0.4, 0, 1});
  return all;
}

std::uint64_t violations_in(const workload& w, const rule_table& rules, std::uint64_t seed) {
  const address_mapping mapping(standard_mapping("row-column-bank-channel", w.memory.shape, 1, 64, false),
                                w.memory.shape, 1);
  checker_options options;
  options.refresh = {static_cast<refresh_kind>(w.config.refresh), 0, 2};
  command_checker checker(w.memory, 1, options);
  unheard nobody;
  memory_system memory(w.memory, rules, w.config, mapping, nobody, &checker);
  random_generator random(seed);
  const std::uint64_t row_bytes = w.memory.shape.bytes_per_row() * w.memory.shape.banks() * w.memory.shape.ranks;
  cycles now = 0;
  for (std::uint64_t id = 0; id < 1500 && broken(checker) == 0; ++id) {
    if (w.pause != 0 && random.chance(0.05))
      now += static_cast<cycles>(random.below(static_cast<std::uint64_t>(w.pause)));
    access a;
    a.id = id;
    a.bytes = 32;
    a.write = random.chance(w.writes);
    a.address = random.below(w.rows * row_bytes) / 32 * 32;
    memory.submit(now, a);
    now = memory.settle();
  }
  memory.drain();
  return broken(checker);
}

std::uint64_t violations_in_walk(const rule_table& rules, std::uint64_t seed, std::uint32_t burst_length) {
  const device d = often_refreshed(test::typed_6400(2), burst_length);
  command_checker checker(d, 1, {});
  random_walk walk(d, rules, seed, checker);
  for (int i = 0; i < 60'000 && broken(checker) == 0; ++i) walk.step();
  return broken(checker);
}

// Rows that cannot matter, and what keeps the same distance.
struct dominated {
  const char* row;
  const char* by;
  cycles kept;      // by that
  cycles distance;  // of the row
};

std::vector<dominated> dominated_rows(const timing& t) {
  return {
      {"WR to RD of other_rank, max(1, WL + BL_n_min + RTRS - RL): data of the two ranks do not meet",
       "the command bus: one command a clock", 1, std::max<cycles>(1, t.WL + t.BL_n_min + t.RTRS - t.RL)},
  };
}

std::string name_of_row(const rule_row& row) {
  constexpr const char* scopes[] = {"bank", "bank_group", "rank", "channel", "other_rank"};
  return std::string(name_of(row.earlier.front())) + " to " + std::string(name_of(row.later.front())) + " of " +
         scopes[static_cast<int>(row.scope)] + ", " + row.latency + ": " + row.why;
}

struct mutant {
  std::string name;
  std::vector<rule_row> rows;
};

std::vector<mutant> mutants() {
  const auto rows = builtin_rules();
  std::vector<mutant> all;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto changed = rows;
    changed[i].latency = "(" + rows[i].latency + ") - 1";
    all.push_back({name_of_row(rows[i]), changed});
    if (rows[i].hole_to.empty()) continue;
    changed = rows;
    changed[i].hole_to = "(" + rows[i].hole_to + ") - 1";
    all.push_back({name_of_row(rows[i]) + " (end of the hole)", changed});
    changed = rows;
    changed[i].hole_from = "(" + rows[i].hole_from + ") + 1";
    all.push_back({name_of_row(rows[i]) + " (begin of the hole)", changed});
  }
  return all;
}

TEST(mutation, the_rules_as_shipped_break_nothing) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const auto& w : workloads()) {
      EXPECT_EQ(violations_in(w, compile(builtin_rules(), w.memory.times), seed), 0U) << "seed " << seed;
    }
    for (const std::uint32_t burst : {16U, 32U}) {
      const device d = often_refreshed(test::typed_6400(2), burst);
      EXPECT_EQ(violations_in_walk(compile(builtin_rules(), d.times), seed, burst), 0U) << "seed " << seed;
    }
  }
}

TEST(mutation, every_row_loosened_by_one_clock_is_caught_or_dominated) {
  const auto all = workloads();
  std::set<std::string> unseen;
  int by_memory = 0, by_walk = 0;
  for (const mutant& m : mutants()) {
    bool seen = false;
    for (std::uint64_t seed = 1; seed <= 3 && !seen; ++seed) {
      for (const auto& w : all) {
        if (seen) break;
        seen = violations_in(w, compile(m.rows, w.memory.times), seed) != 0;
      }
    }
    by_memory += seen;
    if (seen) continue;
    for (std::uint64_t seed = 1; seed <= 4 && !seen; ++seed) {
      for (const std::uint32_t burst : {16U, 32U}) {
        const device d = often_refreshed(test::typed_6400(2), burst);
        seen = seen || violations_in_walk(compile(m.rows, d.times), seed, burst) != 0;
      }
    }
    by_walk += seen;
    std::cout << (seen ? "only by the walk: " : "not seen: ") << m.name << "\n";
    if (!seen) unseen.insert(m.name);
  }
  std::cout << by_memory << " caught in the memory, " << by_walk << " in the walk, " << unseen.size() << " dominated\n";
  const timing t = test::typed_6400().times;
  for (const dominated& d : dominated_rows(t)) {
    EXPECT_EQ(unseen.erase(d.row), 1U) << d.row << " is listed as dominated, but was caught or is no row";
    EXPECT_GE(d.kept, d.distance) << d.row << " is not dominated by " << d.by;
  }
  for (const auto& name : unseen) ADD_FAILURE() << name << " loosened by a clock was not caught";
}

}  // namespace
}  // namespace dvp::lpddr5
