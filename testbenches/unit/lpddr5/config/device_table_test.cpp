// The built-in devices value by value. Expected numbers are typed from the published tables, not computed.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "dvp_gen/dram.h"
#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/config/device_check.h"

namespace dvp::lpddr5 {
namespace {

void expect_timing(const device& d, const std::map<std::string, cycles>& expected) {
  for (const auto& [name, value] : expected) EXPECT_EQ(timing_value(d.times, name), value) << d.id << " " << name;
}

// After `earlier`, at which distance may `later` come: the longest of the rows for places that contain one another.
cycles distance(const device& d, command earlier, command later, rule_scope widest_shared) {
  const rule_table table = compile(builtin_rules(), d.times);
  cycles longest = -1;
  for (const rule_scope scope : {rule_scope::bank, rule_scope::bank_group, rule_scope::rank, rule_scope::channel}) {
    if (scope < widest_shared) continue;
    for (const rule_effect& e : table.effects[static_cast<std::size_t>(scope)][static_cast<std::size_t>(earlier)]) {
      if (e.later == later) longest = std::max(longest, e.latency);
    }
  }
  return longest;
}

cycles other_rank(const device& d, command earlier, command later) {
  const rule_table table = compile(builtin_rules(), d.times);
  for (const rule_effect& e :
       table.effects[static_cast<std::size_t>(rule_scope::other_rank)][static_cast<std::size_t>(earlier)]) {
    if (e.later == later) return e.latency;
  }
  return -1;
}

device choose(const std::string& speed) {
  device_choice choice;
  choice.speed = speed;
  return builtin_device(choice);
}

std::string refusal(const device_choice& choice) {
  try {
    builtin_device(choice);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(lpddr5_6400, published_values) {
  const device d = choose("lpddr5-6400");
  EXPECT_EQ(d.standard, "LPDDR5");
  EXPECT_EQ(d.times.tCK_fs, 1'250'000U);
  EXPECT_DOUBLE_EQ(peak_bytes_per_second(d), 12.8e9);
  EXPECT_EQ(d.shape.mode(), bank_mode::bg);
  EXPECT_EQ(d.shape.burst_length, 16U);
  EXPECT_EQ(d.shape.bytes_per_row(), 2048U);
  EXPECT_EQ(d.shape.bytes_per_channel(), 1U << 30);
  EXPECT_EQ(d.shape.pair_offset, 8U);
  expect_timing(d, {{"RL", 17},      {"WL", 9},       {"RCD", 15},    {"RPpb", 15},    {"RPab", 17},   {"RAS", 34},
                    {"RCpb", 49},    {"WR", 28},      {"BL_n_S", 2},  {"BL_n_L", 4},   {"RRD", 4},     {"FAW", 16},
                    {"WTR_S", 5},    {"WTR_L", 10},   {"PPD", 2},     {"AAD", 8},      {"WCKPST", 1},  {"BL_n_min", 2},
                    {"BL_n_max", 4}, {"pbR2act", 6},  {"REFI", 3125}, {"REFIpb", 391}, {"RFCab", 168}, {"RFCpb", 96},
                    {"RTRS", 2},     {"pbR2pbR", 72}, {"RCab", 51},   {"RTW_S", 12},   {"RTW_L", 12},  {"XP", 6},
                    {"SR", 12},      {"XSR", 174},    {"RBTP", 6}});
}

TEST(lpddr5_6400, derived_distances) {
  const device d = choose("lpddr5-6400");
  using enum command;
  EXPECT_EQ(distance(d, rd, wr, rule_scope::rank), 12);
  EXPECT_EQ(distance(d, wr, rd, rule_scope::rank), 16) << "other bank group";
  EXPECT_EQ(distance(d, wr, rd, rule_scope::bank_group), 23) << "same bank group";
  EXPECT_EQ(distance(d, wr, pre, rule_scope::bank), 39);
  EXPECT_EQ(distance(d, rd, pre, rule_scope::bank), 8);
  EXPECT_EQ(distance(d, rd, rd, rule_scope::rank), 2);
  EXPECT_EQ(distance(d, rda, rd, rule_scope::bank_group), 4);
  EXPECT_EQ(distance(d, wra, wr, rule_scope::bank), 4);
  EXPECT_EQ(distance(d, act1, rd, rule_scope::bank), 15);
  EXPECT_EQ(distance(d, act1, act1, rule_scope::bank), 49);
  EXPECT_EQ(distance(d, act1, act1, rule_scope::rank), 4);
  EXPECT_EQ(distance(d, act1, pre, rule_scope::bank), 34);
  EXPECT_EQ(distance(d, pre, act1, rule_scope::bank), 15);
  EXPECT_EQ(distance(d, pre_all, act1, rule_scope::bank), 17);
  EXPECT_EQ(distance(d, pre, pre, rule_scope::rank), 2);
  EXPECT_EQ(distance(d, rda, act1, rule_scope::bank), 23);
  EXPECT_EQ(distance(d, wra, act1, rule_scope::bank), 54);
  EXPECT_EQ(distance(d, wra, ref_all, rule_scope::rank), 54);
  EXPECT_EQ(distance(d, act1, ref_all, rule_scope::rank), 49);
  EXPECT_EQ(distance(d, pre_all, ref_all, rule_scope::rank), 17);
  EXPECT_EQ(distance(d, ref_all, act1, rule_scope::rank), 168);
  EXPECT_EQ(distance(d, ref_all, ref_all, rule_scope::rank), 168);
  EXPECT_EQ(distance(d, ref_bank, act1, rule_scope::bank), 96);
  EXPECT_EQ(distance(d, ref_bank, act1, rule_scope::rank), 6);
  EXPECT_EQ(distance(d, ref_bank, ref_bank, rule_scope::rank), 72);
  EXPECT_EQ(distance(d, ref_bank, ref_all, rule_scope::rank), 96);
  EXPECT_EQ(distance(d, rd, pd_enter, rule_scope::rank), 20);
  EXPECT_EQ(distance(d, pd_exit, rd, rule_scope::rank), 6);
  EXPECT_EQ(distance(d, sr_enter, sr_exit, rule_scope::rank), 12);
  EXPECT_EQ(distance(d, sr_exit, act1, rule_scope::rank), 174);
  // Data of the two ranks: reads at RL 17 for 2 CK, then 2 CK of gap; writes at WL 9.
  EXPECT_EQ(other_rank(d, rd, rd), 4);
  EXPECT_EQ(other_rank(d, wr, wr), 4);
  EXPECT_EQ(other_rank(d, rd, wr), 12);
  EXPECT_EQ(other_rank(d, wr, rd), 1);
  const rule_table table = compile(builtin_rules(), d.times);
  ASSERT_EQ(table.windows.size(), 1U);
  EXPECT_EQ(table.windows[0].window, 4U);
  EXPECT_EQ(table.windows[0].latency, 16);
  EXPECT_TRUE(table.holes.empty());
}

TEST(lpddr5_6400, burst_of_32_leaves_room_for_one_burst_of_another_group) {
  device_choice choice;
  choice.speed = "lpddr5-6400";
  choice.burst_length = 32;
  const device d = builtin_device(choice);
  expect_timing(d, {{"BL_n_min", 6}, {"BL_n_max", 8}, {"BL_n_S", 2}, {"BL_n_L", 8}, {"RTW_S", 16}, {"RL", 17}});
  EXPECT_EQ(d.shape.burst_bytes(), 64U);
  EXPECT_EQ(distance(d, command::rd, command::rd, rule_scope::bank_group), 8);
  EXPECT_EQ(distance(d, command::rd, command::rd, rule_scope::rank), 2);
  const rule_table table = compile(builtin_rules(), d.times);
  ASSERT_EQ(table.holes.size(), 2U);  // reads, writes
  for (const hole_rule& hole : table.holes) {
    EXPECT_EQ(hole.from, 3);
    EXPECT_EQ(hole.to, 6);
  }
}

TEST(lpddr5_6400, mode_of_8_banks) {
  device_choice choice;
  choice.speed = "LPDDR5-6400";
  choice.mode = bank_mode::b8;
  const device d = builtin_device(choice);
  EXPECT_EQ(d.shape.burst_length, 32U);
  EXPECT_EQ(d.shape.banks(), 8U);
  EXPECT_EQ(d.shape.bytes_per_row(), 4096U);
  EXPECT_EQ(d.shape.bytes_per_channel(), 1U << 30);
  EXPECT_EQ(d.shape.pair_offset, 0U);
  expect_timing(
      d, {{"BL_n_S", 4}, {"BL_n_L", 4}, {"BL_n_min", 4}, {"RRD", 8}, {"FAW", 32}, {"WTR_S", 10}, {"pbR2act", 8}});
  EXPECT_NO_THROW(check_device(d, "built in"));
}

TEST(densities, refresh_and_rows) {
  const struct {
    std::uint32_t gbit, rows;
    cycles all, bank;
  } expected[] = {{8, 32768, 168, 96}, {16, 65536, 224, 112}, {32, 131072, 304, 152}};
  for (const auto& e : expected) {
    device_choice choice;
    choice.speed = "lpddr5-6400";
    choice.density_gbit = e.gbit;
    const device d = builtin_device(choice);
    EXPECT_EQ(d.shape.rows, e.rows);
    EXPECT_EQ(d.shape.bytes_per_channel() * 8, std::uint64_t{e.gbit} << 30);
    expect_timing(d, {{"RFCab", e.all}, {"RFCpb", e.bank}});
  }
}

TEST(lpddr5_5500, published_values) {
  const device d = choose("lpddr5-5500");
  EXPECT_NEAR(peak_bytes_per_second(d), 11e9, 1e4);
  expect_timing(
      d, {{"RL", 15}, {"WL", 8},     {"RCD", 13},     {"RPpb", 13},    {"RPab", 15},   {"RAS", 29},  {"RCpb", 42},
          {"WR", 24}, {"BL_n_S", 2}, {"BL_n_L", 4},   {"RRD", 4},      {"FAW", 16},    {"WTR_S", 5}, {"WTR_L", 9},
          {"PPD", 2}, {"AAD", 8},    {"BL_n_min", 2}, {"BL_n_max", 4}, {"RFCab", 145}, {"RFCpb", 83}});
  EXPECT_EQ(distance(d, command::rd, command::pre, rule_scope::bank), 6);
}

TEST(lpddr5x_8533, no_timing_is_shorter_than_its_nanoseconds) {
  const device d = choose("lpddr5x-8533");
  EXPECT_EQ(d.standard, "LPDDR5X");
  EXPECT_NEAR(peak_bytes_per_second(d), 17.0667e9, 1e6);
  expect_timing(
      d, {{"RL", 23}, {"WL", 12}, {"RCD", 20}, {"RPpb", 20}, {"RPab", 23}, {"RAS", 45}, {"WR", 37}, {"RFCab", 224}});
  const double ns = static_cast<double>(d.times.tCK_fs) * 1e-6;
  const std::pair<cycles, double> floors[] = {{d.times.RCD, 18},    {d.times.RAS, 42}, {d.times.WR, 34},
                                              {d.times.RFCab, 210}, {d.times.FAW, 20}, {d.times.WTR_L, 12},
                                              {d.times.RL, 21.25},  {d.times.RRD, 5}};
  for (const auto& [clocks, least] : floors) {
    EXPECT_GE(static_cast<double>(clocks) * ns, least);
    EXPECT_LT(static_cast<double>(clocks - 1) * ns, least);
  }
}

TEST(builtin, every_device_passes_the_checks_and_names_a_source_for_every_timing) {
  ASSERT_EQ(builtin_devices(), (std::vector<std::string>{"lpddr5-5500", "lpddr5-6400", "lpddr5x-8533"}));
  for (const std::string& name : builtin_devices()) {
    const device d = choose(name);
    EXPECT_EQ(d.id, name);
    EXPECT_NO_THROW(check_device(d, "built in"));
    EXPECT_NO_THROW(compile(builtin_rules(), d.times));
    for (const timing_field& field : timing_fields()) {
      EXPECT_NE(d.provenance.find(field.name), std::string::npos) << name << " has no source for " << field.name;
      EXPECT_GT(d.times.*(field.value), 0) << name << " " << field.name;
    }
  }
}

TEST(builtin, combinations_that_do_not_exist_are_refused) {
  const auto expect = [](auto set, const char* phrase) {
    device_choice choice;
    choice.speed = "lpddr5-6400";
    set(choice);
    const std::string said = refusal(choice);
    EXPECT_NE(said.find(phrase), std::string::npos) << said;
  };
  expect([](auto& c) { c.mode = bank_mode::b16; },
         "bank_mode: 16B mode is for 1 to 3200 Mb/s and lpddr5-6400 runs at 6400");
  expect([](auto& c) { c.mode = bank_mode::b8, c.burst_length = 16; },
         "burst_length: 8B mode has no bursts of 16; choose 32");
  expect([](auto& c) { c.speed = "lpddr5x-8533", c.mode = bank_mode::b8; }, "bank_mode: LPDDR5X has no 8B mode");
  expect([](auto& c) { c.density_gbit = 12; }, "density_gbit: there is no die of 12 Gb; choose one of 8, 16, 32");
  expect([](auto& c) { c.speed = "lpddr5-640"; }, "did you mean lpddr5-6400?");
  expect([](auto& c) { c.width_bits = 24; }, "width_bits: 24 is not 16 times a power of two");
  expect([](auto& c) { c.ranks = 3; }, "ranks: 3 is not 1, 2 or 4");
}

TEST(energy, defaults_scale_with_the_channel) {
  const device one = choose("lpddr5-6400");
  EXPECT_EQ(one.energy.act_fj, 1'280'000U);
  EXPECT_EQ(one.energy.core_read_fj_per_bit, 2540U);
  EXPECT_EQ(one.energy.down_read_fj_per_bit, 1560U);
  EXPECT_EQ(one.energy.core_read_fj_per_bit + one.energy.down_read_fj_per_bit, 4100U) << "4.1 pJ/bit for the system";
  EXPECT_EQ(one.energy.core_write_fj_per_bit, one.energy.core_read_fj_per_bit);
  EXPECT_EQ(one.energy.convert_fj_per_element[8], 0U);
  EXPECT_EQ(one.energy.convert_fj_per_element[0], 0U);
  EXPECT_EQ(one.energy.ref_all_fj, 22'400'000U);
  EXPECT_EQ(one.energy.ref_bank_fj * 8, one.energy.ref_all_fj);
  device_choice wide;
  wide.speed = "lpddr5-6400";
  wide.width_bits = 64;
  wide.density_gbit = 16;
  const device four = builtin_device(wide);
  EXPECT_EQ(four.energy.act_fj, 4 * one.energy.act_fj);
  EXPECT_EQ(four.energy.ref_all_fj, 8 * one.energy.ref_all_fj);
  EXPECT_EQ(four.energy.active_standby_uw, 4 * one.energy.active_standby_uw);
  EXPECT_EQ(four.energy.core_read_fj_per_bit, one.energy.core_read_fj_per_bit);
}

}  // namespace
}  // namespace dvp::lpddr5
