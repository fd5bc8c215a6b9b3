// Every row of the shipped rule file is exact: blocked at N - 1, legal at N, for three speeds. N comes from numbers
// typed by hand and the checker's formulas, never from the device or rule files.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testbenches/unit/lpddr5/check/typed_devices.h"
#include "tlm/lpddr5/check/constraints.h"
#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/engine/timing_state.h"

namespace dvp::lpddr5 {
namespace {

constexpr cycles start = 10'000;

// Where the later command goes, seen from an earlier one to rank 0 bank 0.
enum class relation { same_bank, same_group, same_rank, other_rank };
constexpr std::uint32_t bank_of(relation r) {
  return r == relation::same_group ? 1 : r == relation::same_rank ? 4 : 0;
}
constexpr std::uint32_t rank_of(relation r) {
  return r == relation::other_rank ? 1 : 0;
}
constexpr const char* name_of(relation r) {
  constexpr const char* names[] = {"same bank", "same bank group", "same rank", "other rank"};
  return names[static_cast<int>(r)];
}

// One channel under the three verbs.
struct probe_bench {
  explicit probe_bench(const device& d) : rules(compile(builtin_rules(), d.times)), state(rules, d.shape) {}
  void issue(command c, cycles at, std::uint32_t bank = 0) { state.issue(c, 0, bank, at); }
  bool legal_at(command c, relation r, cycles at) const { return state.earliest(c, rank_of(r), bank_of(r), at) == at; }
  rule_table rules;
  timing_state state;
};

// Clocks from `earlier` to `later`, from the checker's formulas; 0: they do not limit each other.
cycles expected(const device& d, command earlier, command later, relation r) {
  const timing& t = d.times;
  if (r == relation::other_rank) {
    if (!is_column(earlier) || !is_column(later)) return 0;
    const cycles data_ends = (is_read(earlier) ? t.RL : t.WL) + t.BL_n_min;
    return std::max<cycles>(1, data_ends + t.RTRS - (is_read(later) ? t.RL : t.WL));
  }
  cycles longest = 0;
  for (const constraint& k : constraints_of(d)) {
    const auto has = [](const std::vector<command>& list, command c) {
      return std::find(list.begin(), list.end(), c) != list.end();
    };
    if (!has(k.earlier, earlier) || !has(k.later, later)) continue;
    const bool everywhere = to_all_banks(earlier) || to_all_banks(later);
    const bool applies = k.scope == reach::rank ||
                         (k.scope == reach::bank && (everywhere || r == relation::same_bank)) ||
                         (k.scope == reach::bank_group && (r == relation::same_bank || r == relation::same_group));
    if (applies) longest = std::max(longest, k.distance);
  }
  return longest;
}

relation relation_of(rule_scope scope) {
  switch (scope) {
    case rule_scope::bank:
      return relation::same_bank;
    case rule_scope::bank_group:
      return relation::same_group;
    case rule_scope::other_rank:
      return relation::other_rank;
    case rule_scope::rank:
    case rule_scope::channel:
      break;
  }
  return relation::same_rank;
}

struct speed {
  const char* name;
  device (*typed)(std::uint32_t ranks);
};
constexpr speed speeds[] = {
    {"lpddr5-5500", test::typed_5500}, {"lpddr5-6400", test::typed_6400}, {"lpddr5x-8533", test::typed_8533}};

device shipped(const speed& s) {
  device_choice choice;
  choice.speed = s.name;
  choice.ranks = 2;
  return builtin_device(choice);
}

TEST(tightness, shipped_devices_have_the_typed_timing) {
  for (const speed& s : speeds) {
    const device file = shipped(s);
    const device typed = s.typed(2);
    EXPECT_EQ(file.times.tCK_fs, typed.times.tCK_fs) << s.name;
    for (const timing_field& f : timing_fields()) {
      EXPECT_EQ(file.times.*f.value, typed.times.*f.value) << s.name << " " << f.name;
    }
  }
}

TEST(tightness, every_rule_row_is_exact_at_every_speed) {
  int checked = 0;
  for (const speed& s : speeds) {
    const device typed = s.typed(2);
    for (const rule_row& row : builtin_rules()) {
      if (row.window != 1) continue;
      const relation r = relation_of(row.scope);
      for (const command earlier : row.earlier) {
        for (const command later : row.later) {
          const cycles n = expected(typed, earlier, later, r);
          ASSERT_GT(n, 0) << row.why << ": the checker has no such constraint";
          probe_bench bench(shipped(s));
          bench.issue(earlier, start);
          const std::string what = std::string(s.name) + ", " + row.why + ": " + std::string(name_of(earlier)) +
                                   " to " + std::string(name_of(later)) + ", " + name_of(r);
          EXPECT_FALSE(bench.legal_at(later, r, start + n - 1)) << what << " is legal at " << n - 1;
          EXPECT_TRUE(bench.legal_at(later, r, start + n)) << what << " is blocked at " << n;
          ++checked;
        }
      }
    }
  }
  EXPECT_GT(checked, 300);
}

// Pairs that the state of a bank or rank rules out, so that no rule need hold them apart.
bool cannot_follow(command earlier, command later) {
  const bool after_refresh = earlier == command::ref_all || earlier == command::ref_bank;
  const bool needs_row = is_column(later) || later == command::cas;
  // The row is closed; a closing precharge comes between; ACT-2 belongs to an ACT-1.
  const bool closes_itself = earlier == command::rda || earlier == command::wra;
  return (after_refresh && needs_row) || (closes_itself && later == command::pre) ||
         (is_column(earlier) && later == command::sr_enter) || later == command::act2;
}

TEST(tightness, no_constraint_lacks_a_rule) {
  for (const speed& s : speeds) {
    const device typed = s.typed(2);
    for (std::size_t e = 0; e < command_count; ++e) {
      for (std::size_t l = 0; l < command_count; ++l) {
        for (const relation r :
             {relation::same_bank, relation::same_group, relation::same_rank, relation::other_rank}) {
          const auto earlier = static_cast<command>(e);
          const auto later = static_cast<command>(l);
          const cycles n = expected(typed, earlier, later, r);
          if (n == 0 || cannot_follow(earlier, later)) continue;
          probe_bench bench(shipped(s));
          bench.issue(earlier, start);
          EXPECT_FALSE(bench.legal_at(later, r, start + n - 1))
              << s.name << ": " << name_of(earlier) << " to " << name_of(later) << ", " << name_of(r) << " needs " << n;
        }
      }
    }
  }
}

TEST(tightness, four_activates_fill_the_window) {
  for (const speed& s : speeds) {
    const cycles n = s.typed(2).times.FAW;
    for (const command fourth : {command::act1, command::ref_bank}) {
      probe_bench bench(shipped(s));
      for (std::uint32_t bank : {0U, 5U, 10U}) bench.issue(command::act1, start, bank);
      bench.issue(fourth, start, 15);
      EXPECT_FALSE(bench.legal_at(command::act1, relation::same_rank, start + n - 1)) << s.name;
      EXPECT_TRUE(bench.legal_at(command::act1, relation::same_rank, start + n)) << s.name;
      EXPECT_TRUE(bench.legal_at(command::act1, relation::other_rank, start + 1)) << s.name;
      probe_bench three(shipped(s));
      for (std::uint32_t bank : {0U, 5U, 10U}) three.issue(command::act1, start, bank);
      EXPECT_TRUE(three.legal_at(command::act1, relation::same_rank, start + s.typed(2).times.RRD)) << s.name;
    }
  }
}

TEST(tightness, bl32_leaves_room_for_one_burst_and_then_none_until_its_end) {
  device_choice choice;
  choice.speed = "lpddr5-6400";
  choice.burst_length = 32;
  for (const auto& [earlier, later] : {std::pair{command::rd, command::rda}, std::pair{command::wra, command::wr}}) {
    probe_bench bench(builtin_device(choice));
    bench.issue(earlier, start);
    for (cycles gap = 0; gap < 10; ++gap) {
      EXPECT_EQ(bench.legal_at(later, relation::same_rank, start + gap), gap == 2 || gap >= 6) << gap;
      EXPECT_EQ(bench.legal_at(later, relation::same_group, start + gap), gap >= 8) << gap;
    }
  }
}

TEST(tightness, a_refreshed_pair_blocks_both_banks) {
  probe_bench bench(shipped(speeds[1]));
  bench.issue(command::ref_bank, start);
  bench.state.issue_to_partner(command::ref_bank, 0, 8, start);
  const auto at = [&](std::uint32_t bank) { return bench.state.earliest(command::act1, 0, bank) - start; };
  EXPECT_EQ(at(0), 96);
  EXPECT_EQ(at(8), 96);
  EXPECT_EQ(at(1), 6);
  EXPECT_EQ(at(9), 6);
}

}  // namespace
}  // namespace dvp::lpddr5
