#include "tlm/lpddr5/check/command_checker.h"

#include <gtest/gtest.h>

#include "testbenches/unit/lpddr5/check/command_script.h"
#include "testbenches/unit/lpddr5/check/typed_devices.h"

namespace dvp::lpddr5 {
namespace {

using test::parse_command;
using test::parse_script;
using test::typed_6400;
using test::typed_6400_bl32;

constexpr checker_options relaxed{.refresh = {refresh_kind::all_bank, 8, 8}};
constexpr checker_options per_bank{.refresh = {refresh_kind::per_bank, 8, 8}};

command_checker judge(const device& d, const std::string& script, const checker_options& options = relaxed) {
  command_checker checker(d, 1, options);
  for (const auto& c : parse_script(script)) checker.issued(0, c);
  return checker;
}

std::string told(const command_checker& checker) {
  std::string all;
  for (const auto& s : checker.sentences()) all += s + "\n";
  return all;
}

device with_wck_stopping(device d = typed_6400()) {
  d.shape.wck_always_on = false;
  return d;
}

device in_8b(device d = typed_6400()) {
  d.shape.bank_groups = 1, d.shape.banks_per_group = 8, d.shape.pair_offset = 0, d.shape.burst_length = 32;
  d.times.BL_n_min = d.times.BL_n_max = d.times.BL_n_S = d.times.BL_n_L = 4;
  d.times.RTW_S = d.times.RTW_L = 14, d.times.WTR_S = d.times.WTR_L;
  return d;
}

// `last` is legal at clock `legal` and breaks `name` one clock before, whatever came first.
struct distance {
  const char* name;
  const char* first;
  const char* last;
  cycles legal;
  device on = typed_6400();
  checker_options options = relaxed;
};

// Rows 5 of banks 0, 4, 8 open, and row 5 of bank 1: groups 0, 1, 2, 0.
const std::string open_rows =
    "0 ACT1 0 5; 1 ACT2 0 5; 4 ACT1 4 5; 5 ACT2 4 5; 8 ACT1 1 5; 9 ACT2 1 5; 12 ACT1 8 5; 13 ACT2 8 5;";
const std::string open_0 = "0 ACT1 0 5; 1 ACT2 0 5;";

std::vector<distance> distances() {
  static std::vector<std::string> kept;
  kept.reserve(200);
  const auto after_rows = [](const char* more) { return kept.emplace_back(open_rows + more).c_str(); };
  const auto after_0 = [](const char* more) { return kept.emplace_back(open_0 + more).c_str(); };
  const device two_ranks = typed_6400(2);
  const char* const both_ranks = "0 ACT1 0.0 5; 1 ACT2 0.0 5; 2 ACT1 1.0 5; 3 ACT2 1.0 5;";
  const auto after_both = [&](const char* more) { return kept.emplace_back(std::string(both_ranks) + more).c_str(); };
  device longer_rtw = typed_6400();
  longer_rtw.times.RTW_L = 14;
  device longer_faw = typed_6400();
  longer_faw.times.FAW = 20;
  checker_options fed = relaxed;
  fed.core_feed = 2;
  return {
      {"tRCD", after_0(""), "RD 0", 15},
      {"tRCD", after_0(""), "WRA 0", 15},
      {"tRCD", after_0(""), "PDE", 15},
      {"tRAS", after_0(""), "PRE 0", 34},
      {"tRAS", after_0(""), "PREab", 34},
      {"tRC", after_0("34 PRE 0;"), "ACT1 0 6", 49},
      {"tRC", after_0("20 RDA 0;"), "ACT1 0 6", 49},
      {"tRC", after_0("20 RDA 0;"), "REFab", 49},
      {"tRC", after_0("20 RDA 0;"), "REFpb 0", 49, typed_6400(), per_bank},
      {"tRP", after_0("40 PRE 0;"), "ACT1 0 6", 55},
      {"tRP", after_0("40 PRE 0;"), "REFab", 55},
      {"tRP", after_0("40 PRE 0;"), "SRE", 55},
      {"tRP", after_0("40 PRE 0;"), "REFpb 0", 55, typed_6400(), per_bank},
      {"tRP", "0 ACT1 8 5; 1 ACT2 8 5; 40 PRE 8;", "REFpb 0", 55, typed_6400(), per_bank},  // bank 8 is 0's pair
      {"tRP", after_0("40 PRE 0;"), "PDE", 55},
      {"tRPab", after_0("40 PREab;"), "ACT1 3 6", 57},
      {"tRPab", after_0("40 PREab;"), "PDE", 57},
      {"tRPab", after_0("40 PREab;"), "REFab", 57},
      {"tRTP", after_0("30 RD 0;"), "PRE 0", 38},
      {"tRTP", after_0("30 RD 0;"), "PREab", 38},
      {"tWR", after_0("15 WR 0;"), "PRE 0", 54},
      {"tWR", after_0("15 WR 0;"), "PREab", 54},
      {"tRTP + tRP", after_0("30 RDA 0;"), "ACT1 0 6", 53},
      {"tRTP + tRP", after_0("30 RDA 0;"), "PDE", 53},
      {"tWR + tRP", after_0("15 WRA 0;"), "ACT1 0 6", 69},
      {"tWR + tRP", after_0("15 WRA 0;"), "REFab", 69},
      {"tRRD", after_0(""), "ACT1 5 6", 4},
      {"tRRD", after_0(""), "REFpb 1", 4, typed_6400(), per_bank},
      {"tFAW", "0 REFpb 0; 6 ACT1 4 5; 7 ACT2 4 5; 10 ACT1 5 5; 11 ACT2 5 5; 14 ACT1 6 5; 15 ACT2 6 5;", "ACT1 7 5", 20,
       longer_faw, per_bank},
      {"tFAW", "0 ACT1 0 5; 1 ACT2 0 5; 4 ACT1 4 5; 5 ACT2 4 5; 8 ACT1 8 5; 9 ACT2 8 5; 12 ACT1 12 5; 13 ACT2 12 5;",
       "ACT1 1 5", 20, longer_faw},
      {"tPPD", after_rows("50 PRE 0;"), "PRE 4", 52},
      {"tPPD", after_rows("50 PRE 0;"), "PREab", 52},
      {"tCCD_S", after_rows("40 RD 0;"), "RD 4", 42},
      {"tCCD_S", after_rows("40 WR 0;"), "WR 4", 42},
      {"tCCD_L", after_rows("40 RD 0;"), "RD 0", 44},
      {"tCCD_L", after_rows("40 RD 0;"), "RDA 1", 44},
      {"tCCD_L", after_rows("40 WR 0;"), "WR 1", 44},
      {"tRTW_S", after_rows("40 RD 0;"), "WR 4", 52},
      {"tRTW_L", after_rows("40 RD 0;"), "WR 1", 54, longer_rtw},
      {"tWTR_S", after_rows("40 WR 0;"), "RD 4", 56},
      {"tWTR_L", after_rows("40 WR 0;"), "RD 1", 63},
      {"tWTR_L", after_rows("40 WRA 0;"), "RDA 1", 63},
      // Precision-tagged reads: four accesses at a feed of two are two slots.
      {"tCCD_S", after_rows("40 RD*4+0 0;"), "RD 4", 44, typed_6400(), fed},
      {"tCCD_L", after_rows("40 RD*4+0 0;"), "RD 1", 48, typed_6400(), fed},
      {"tRTP", after_0("40 RD*4 0;"), "PRE 0", 52, typed_6400(), fed},
      {"tRTP + tRP", after_0("40 RDA*4 0;"), "ACT1 0 6", 67, typed_6400(), fed},
      {"tRTW_S", after_rows("40 RD*2+6 0;"), "WR 4", 58, typed_6400(), fed},
      {"data bus", after_rows("40 RD*2+6 0;"), "RD 4", 48, typed_6400(), fed},
      // Two ranks share the data bus.
      {"tRTRS", after_both("40 RD 0.0;"), "RD 1.0", 44, two_ranks},
      {"tRTRS", after_both("40 WR 0.0;"), "WR 1.0", 44, two_ranks},
      {"tRTRS", after_both("40 RD 0.0;"), "WR 1.0", 52, two_ranks},
      // Refresh.
      {"tRFCab", "0 REFab;", "ACT1 0 5", 168},
      {"tRFCab", "0 REFab;", "REFab", 168},
      {"tRFCab", "0 REFab;", "PDE", 168},
      {"tRFCpb", "0 REFpb 0;", "ACT1 0 5", 96, typed_6400(), per_bank},
      {"tRFCpb", "0 REFpb 0;", "ACT1 8 5", 96, typed_6400(), per_bank},
      {"tRFCpb", "0 REFpb 0;", "SRE", 96, typed_6400(), per_bank},
      {"tpbR2act", "0 REFpb 0;", "ACT1 1 5", 6, typed_6400(), per_bank},
      {"tpbR2pbR", "0 REFpb 0;", "REFpb 1", 72, typed_6400(), per_bank},
      {"tpbR2pbR", "0 REFpb 0;", "REFpb 1", 72, in_8b(), per_bank},
      // Power-down and self-refresh.
      {"tCSPD", "0 PDE;", "PDX", 6},
      {"tXP", "0 PDE; 20 PDX;", "ACT1 0 5", 26},
      {"tXP", "0 PDE; 20 PDX;", "PDE", 26},
      {"tSR", "0 SRE;", "SRX", 12},
      {"tXSR", "0 SRE; 20 SRX;", "ACT1 0 5", 194},
      {"tXSR", "0 SRE; 20 SRX;", "REFab", 194},
      {"read data", after_0("40 RD 0;"), "PDE", 60},
      {"read data", after_0("40 RD+6 0;"), "PDE", 66},
      {"write recovery", after_0("40 WR 0;"), "PDE", 79},
      // 8B: BL32 without groups.
      {"tCCD_S", after_rows("40 RD 0;"), "RD 4", 44,
       [] {
         device d = in_8b();
         d.shape.banks_per_group = 16;
         return d;
       }()},
  };
}

TEST(command_checker, is_exact_to_the_clock) {
  for (const distance& row : distances()) {
    for (const cycles early : {cycles{0}, cycles{1}}) {
      const std::string script = row.first + std::to_string(row.legal - early) + " " + row.last;
      const command_checker checker = judge(row.on, script, row.options);
      if (early == 0) {
        EXPECT_EQ(checker.violations(), 0U) << row.name << ": " << script << "\n" << told(checker);
      } else {
        EXPECT_EQ(checker.by_name().count(row.name), 1U) << row.name << ": " << script << "\n" << told(checker);
      }
    }
  }
}

// Every constraint of the table is hit by the table above, so that none can be lost.
TEST(command_checker, has_a_script_for_every_constraint) {
  std::map<std::string, int> scripts;
  for (const distance& row : distances()) ++scripts[row.name];
  for (const constraint& k : constraints_of(typed_6400())) EXPECT_GT(scripts[std::string(k.name)], 0) << k.name;
}

TEST(command_checker, knows_bl32_halves_interleave_only_at_their_places) {
  for (cycles gap = 1; gap <= 9; ++gap) {
    const std::string script = open_rows + "40 RD 0; " + std::to_string(40 + gap) + " RD 4";
    EXPECT_EQ(judge(typed_6400_bl32(), script).violations() == 0, gap == 2 || gap >= 6) << "distance " << gap;
  }
  const std::string two = open_rows + "40 RD 0; 42 RD 4; ";
  for (cycles at = 43; at <= 50; ++at) {
    const bool legal = at >= 48;  // both halves of both bursts lie on the bus until then
    EXPECT_EQ(judge(typed_6400_bl32(), two + std::to_string(at) + " RD 8").violations() == 0, legal) << at;
  }
}

TEST(command_checker, says_all_in_one_sentence) {
  const auto checker = judge(typed_6400(), open_rows + "40 RD 0; 43 RD 1");
  EXPECT_EQ(told(checker),
            "channel 0, clock 43: RD of rank 0 bank 1 breaks tCCD_L: needs 4 clocks after RD of rank 0 bank 0 at clock "
            "40, got 3\n");
  EXPECT_EQ(checker.commands(), 10U);
}

struct state_case {
  const char* name;
  const char* script;
  device on = typed_6400();
  checker_options options = relaxed;
};

TEST(command_checker, keeps_the_states_of_banks_and_ranks) {
  const std::vector<state_case> cases{
      {"command bus", "5 ACT1 0 5; 5 ACT2 0 5"},
      {"command bus", "5 ACT1 0 5; 4 ACT2 0 5"},
      {"organisation", "0 ACT1 16 5"},
      {"organisation", "0 ACT1 0 32768"},
      {"organisation", "0 ACT1 1.0 5"},
      {"row open", "0 RD 0"},
      {"row open", "0 ACT1 0 5; 1 ACT2 0 5; 40 PRE 0; 60 WR 0"},
      {"row open", "0 ACT1 0 5; 1 ACT2 0 5; 40 RDA 0; 60 RD 0"},
      {"row open", "0 ACT1 0 5; 1 ACT2 0 5; 40 PREab; 60 RD 0"},
      {"row open", "0 ACT1 0 5; 15 RD 0; 16 ACT2 0 5",
       [] {
         device d = typed_6400();
         d.times.AAD = 20;
         return d;
       }()},
      {"row open", "0 ACT1 0 5; 1 ACT2 0 5; 40 RD 0 6"},
      {"bank closed", "0 ACT1 0 5; 1 ACT2 0 5; 60 ACT1 0 6"},
      {"ACT pair", "0 ACT1 0 5; 4 ACT1 4 5; 5 ACT2 0 5"},
      {"ACT pair", "0 ACT1 0 5; 1 ACT2 4 5"},
      {"ACT pair", "0 ACT1 0 5; 1 ACT2 0 6"},
      {"ACT pair", "0 ACT1 0 5; 1 ACT2 0 5; 2 ACT2 0 5"},
      {"ACT pair", "0 ACT1 0 5; 40 PRE 0",
       [] {
         device d = typed_6400();
         d.times.AAD = 99;
         return d;
       }()},
      {"ACT pair", "0 ACT1 0 5; 5 PDE"},
      {"tAAD", "0 ACT1 0 5; 9 ACT2 0 5"},
      {"tAAD", "0 ACT1 0 5; 8 RD 4; 9 ACT2 0 5"},
      {"needless PRE", "0 PRE 0"},
      {"needless PRE", "0 PREab"},
      {"banks closed", "0 ACT1 3 5; 1 ACT2 3 5; 60 REFab"},
      {"banks closed", "0 ACT1 3 5; 1 ACT2 3 5; 60 SRE"},
      {"banks closed", "0 ACT1 3 5; 1 ACT2 3 5; 60 REFpb 3", typed_6400(), per_bank},
      {"banks closed", "0 ACT1 11 5; 1 ACT2 11 5; 60 REFpb 3", typed_6400(), per_bank},
      {"power state", "0 PDE; 20 ACT1 0 5"},
      {"power state", "0 SRE; 20 ACT1 0 5"},
      {"power state", "0 SRE; 20 PDX"},
      {"power state", "0 PDX"},
      {"CAS pair", "0 ACT1 0 5; 1 ACT2 0 5; 20 CAS 0; 22 RD 0", with_wck_stopping()},
      {"CAS pair", "0 ACT1 0 5; 1 ACT2 0 5; 20 CAS 0; 21 ACT1 4 5", with_wck_stopping()},
      {"CAS pair", "0 CAS 0.0; 1 RD 1.0", with_wck_stopping(typed_6400(2))},
      {"WCK off", "0 ACT1 0 5; 1 ACT2 0 5; 20 RD 0", with_wck_stopping()},
      {"needless CAS", "0 ACT1 0 5; 1 ACT2 0 5; 20 CAS 0; 21 RD 0"},
      {"refresh kind", "0 REFab", typed_6400(), per_bank},
      {"refresh kind", "0 REFpb 0"},
      {"refresh kind", "0 REFab", typed_6400(), {}},
  };
  for (const state_case& c : cases) {
    const auto checker = judge(c.on, c.script, c.options);
    EXPECT_EQ(checker.by_name().count(c.name), 1U) << c.name << ": " << c.script << "\n" << told(checker);
  }
}

TEST(command_checker, lets_the_rest_run_between_act1_and_act2) {
  EXPECT_EQ(judge(typed_6400(), "0 ACT1 0 5; 8 ACT2 0 5").violations(), 0U);
  const auto checker = judge(typed_6400(), open_0 + "40 ACT1 4 5; 41 RD 0; 45 WR 0; 48 ACT2 4 5;");
  EXPECT_EQ(checker.by_name().count("tRTW_S"), 1U) << told(checker);
  EXPECT_EQ(checker.violations(), 1U) << told(checker);
}

// WCK runs to the end of the slowest burst in its group and WCKPST further: clocks 21 + 17 + 4 + 1 and 21 + 9 + 4 + 1.
TEST(command_checker, follows_wck) {
  const device d = with_wck_stopping();
  const std::string start = open_0 + "20 CAS 0; 21 RD 0; ";
  EXPECT_EQ(judge(d, start + "43 RD 0").violations(), 0U);
  EXPECT_EQ(judge(d, start + "44 RD 0").by_name().count("WCK off"), 1U);
  EXPECT_EQ(judge(d, start + "43 CAS 0; 44 RD 0").violations(), 0U);
  EXPECT_EQ(judge(d, start + "42 CAS 0; 43 RD 0").by_name().count("needless CAS"), 1U);
  const std::string write = open_0 + "20 CAS 0; 21 WR 0; ";
  EXPECT_EQ(judge(d, write + "35 WR 0").violations(), 0U);
  EXPECT_EQ(judge(d, write + "36 WR 0").by_name().count("WCK off"), 1U);
}

std::string refreshes(cycles first, cycles step, int count) {
  std::string script;
  for (int i = 0; i < count; ++i) script += std::to_string(first + i * step) + " REFab; ";
  return script;
}

TEST(command_checker, counts_refreshes_against_time) {
  const device d = typed_6400();
  const cycles grace = refresh_ledger(d, {refresh_kind::all_bank, 0, 0}).grace();
  EXPECT_LT(grace, d.times.REFI / 8);
  const auto ends = [&](const std::string& script, cycles end, checker_options options) {
    command_checker checker = judge(d, script, options);
    checker.finish(end);
    return checker.by_name();
  };
  const checker_options strict{.refresh = {refresh_kind::all_bank, 0, 0}};
  const checker_options two{.refresh = {refresh_kind::all_bank, 2, 2}};

  EXPECT_TRUE(ends(refreshes(3125, 3125, 10), 11 * 3125 + grace, strict).empty());
  EXPECT_EQ(ends(refreshes(3125, 3125, 10), 11 * 3125 + grace + 1, strict).at("refresh in time"), 1U);
  EXPECT_EQ(ends("", 5 * 3125 + grace + 1, strict).at("refresh in time"), 5U);
  EXPECT_EQ(ends(refreshes(3124, 3125, 2), 2 * 3125, strict).at("refresh order"), 2U);
  // Two owed, or two ahead, but not three.
  EXPECT_TRUE(ends("", 3 * 3125 + grace, two).empty());
  EXPECT_EQ(ends("", 3 * 3125 + grace + 1, two).at("refresh in time"), 1U);
  EXPECT_TRUE(ends("0 REFab; 200 REFab", 400, two).empty());
  EXPECT_EQ(ends("0 REFab; 200 REFab; 400 REFab", 600, two).at("refresh order"), 1U);
  // Self-refresh takes care of itself.
  EXPECT_TRUE(ends("0 SRE; 50000 SRX; 53125 REFab", 53125 + 3125 + grace, strict).empty());
  EXPECT_TRUE(ends("0 SRE; 50000 SRX", 53125 + grace, strict).empty());
  EXPECT_EQ(ends("0 SRE; 50000 SRX", 53125 + grace + 1, strict).at("refresh in time"), 1U);
  EXPECT_TRUE(ends("", 1'000'000, {}).empty());
}

TEST(command_checker, wants_every_pair_of_banks_once_per_round) {
  const device d = typed_6400();
  const checker_options options{.refresh = {refresh_kind::per_bank, 0, 0}};
  std::string round;
  for (int i = 0; i < 8; ++i) round += std::to_string(391 * (i + 1)) + " REFpb " + std::to_string(i) + "; ";
  EXPECT_EQ(judge(d, round, options).violations(), 0U) << told(judge(d, round, options));
  EXPECT_EQ(judge(d, round + "3519 REFpb 3;", options).violations(), 0U);
  EXPECT_EQ(judge(d, "391 REFpb 2; 782 REFpb 2", options).by_name().at("refresh order"), 1U);
}

TEST(command_checker, waits_for_the_ends_of_pairs) {
  command_checker checker(with_wck_stopping(), 2, relaxed);
  checker.issued(1, parse_command("0 ACT1 0 5"));
  checker.issued(0, parse_command("5 CAS 0"));
  checker.finish(10);
  EXPECT_EQ(checker.by_name().at("tAAD"), 1U);
  EXPECT_EQ(checker.by_name().at("CAS pair"), 1U);
}

TEST(command_checker, keeps_channels_apart) {
  command_checker checker(typed_6400(), 2, relaxed);
  for (const auto& c : parse_script(open_0 + "30 RD 0; 31 RD 0")) checker.issued(0, c);
  for (const auto& c : parse_script(open_0 + "30 RD 0;")) checker.issued(1, c);
  EXPECT_EQ(checker.violations(), 2U);  // tCCD_L and the bus, both of channel 0
  EXPECT_EQ(checker.open_row(1, 0, 0), 5U);
  EXPECT_FALSE(checker.open_row(1, 0, 1));
}

}  // namespace
}  // namespace dvp::lpddr5
