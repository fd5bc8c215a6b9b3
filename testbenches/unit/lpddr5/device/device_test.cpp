#include "tlm/lpddr5/device/device.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace dvp::lpddr5 {
namespace {

TEST(timing_fields, every_member_is_found_by_its_own_name_and_no_two_share_one) {
  timing t;
  cycles next = 1;
  for (const timing_field& field : timing_fields()) t.*(field.value) = next++;
  std::set<std::string_view> names;
  cycles expected = 1;
  for (const timing_field& field : timing_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_EQ(timing_value(t, field.name), expected++) << field.name << " shares a member with another name";
  }
  EXPECT_EQ(timing_value(t, "RL"), t.RL);
  EXPECT_EQ(timing_value(t, "BL_n_min"), t.BL_n_min);
  EXPECT_EQ(timing_value(t, "tRL"), std::nullopt);
  EXPECT_EQ(timing_value(t, "rl"), std::nullopt);
}

TEST(organisation, a_x16_die_of_8_gbit) {
  const organisation o;
  EXPECT_EQ(o.banks(), 16U);
  EXPECT_EQ(o.mode(), bank_mode::bg);
  EXPECT_EQ(o.burst_bytes(), 32U);
  EXPECT_EQ(o.bursts_per_row(), 64U);
  EXPECT_EQ(o.bytes_per_row(), 2048U);
  EXPECT_EQ(o.bytes_per_channel(), 1U << 30);
}

TEST(organisation, modes_follow_from_the_banks) {
  organisation o;
  o.bank_groups = 1;
  o.banks_per_group = 16;
  EXPECT_EQ(o.mode(), bank_mode::b16);
  o.banks_per_group = 8;
  EXPECT_EQ(o.mode(), bank_mode::b8);
}

TEST(peak, bytes_per_clock_over_the_period) {
  device d;
  EXPECT_DOUBLE_EQ(peak_bytes_per_second(d), 12.8e9);
  d.shape.width_bits = 64;
  EXPECT_DOUBLE_EQ(peak_bytes_per_second(d), 51.2e9);
  d.shape.beats_per_ck = 4;
  EXPECT_DOUBLE_EQ(peak_bytes_per_second(d), 25.6e9);
}

TEST(clock, periods_that_are_no_whole_picoseconds_do_not_drift) {
  constexpr std::uint64_t tCK_fs = 1'454'545;
  EXPECT_EQ(to_ps(1'000'000, tCK_fs), 1'454'545'000);
  EXPECT_EQ(to_ps(1, tCK_fs), 1455);
  EXPECT_EQ(to_cycles_up(1454, tCK_fs), 1);
  EXPECT_EQ(to_cycles_up(1455, tCK_fs), 2);
  for (const cycles n : {0, 1, 7, 1000, 123'456'789}) EXPECT_EQ(to_cycles_up(to_ps(n, 1'250'000), 1'250'000), n);
}

}  // namespace
}  // namespace dvp::lpddr5
