#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/unit/cpu/rv64/flat_machine.h"
#include "tlm/cpu/rv64/pmp.h"

namespace dvp::cpu::rv64 {
namespace {

TEST(protection, locked_entries_bind_machine_mode) {
  test::flat_machine machine("protection");
  machine.run_to_end();
  const test::program& image = machine.image;
  const std::uint64_t read_only = image["read_only"], guard = image["guard"], data_only = image["data_only"];
  std::uint64_t before = 0;
  std::vector<std::uint64_t> expected;
  const auto trap = [&](std::uint64_t cause, std::uint64_t pc, std::uint64_t value) {
    for (const std::uint64_t mark : {cause, pc, value, ++before}) expected.push_back(mark);
  };
  trap(7, image["store_read_only"], read_only);
  expected.push_back(7);
  trap(7, image["amo_read_only"], read_only);
  trap(7, image["extreme_read_only"], read_only);
  trap(5, image["load_guard"], guard + 8);
  trap(7, image["store_guard"], guard + 8);
  trap(5, image["load_into_guard"], guard);
  expected.push_back(0x12345678);
  trap(7, image["store_into_guard"], guard);  // the part in front of the guard page may have been written (3.7.1)
  for (const std::uint64_t mark : {7, 7}) expected.push_back(mark);
  trap(5, image["load_device"], 0x1000'0000);
  trap(7, image["store_device"], 0x1000'0000);
  trap(1, data_only, data_only);
  trap(1, guard, guard);
  const std::uint64_t config = 0x8098'9818'9b98'8900;
  expected.push_back(config);
  // Unlocked are entries 0 and 4; all ones lock them: reading NAPOT with everything.
  expected.push_back(config | 0x9fULL << 32 | 0x9f);
  expected.push_back(read_only >> 2 | 0x1ff);
  expected.push_back(guard >> 2 | 0x1ff);
  expected.push_back(((1ULL << 54) - 1) & ~0x3ffULL);
  expected.push_back(0);
  expected.push_back(static_cast<std::uint64_t>(0x1c) << 48);
  const std::vector<std::uint64_t> marks = machine.marks();
  ASSERT_EQ(marks.size(), expected.size());
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks[i], expected[i]) << "mark " << i;
  EXPECT_EQ(machine.log, (std::vector<std::string>{"w4 0x10000000 = 0x7"})) << "a denied access reaches no device";
}

TEST(protection, ranges) {
  pmp p;
  EXPECT_EQ(p.permissions(0), all_permissions);
  // Everything: 54 ones.
  p.write_address(0, (1ULL << 54) - 1);
  p.write_config(0, 0x99);
  EXPECT_EQ(p.permissions(0), 1U);
  EXPECT_EQ(p.permissions(~0ULL), 1U);
  EXPECT_TRUE(p.borders(0, ~0ULL).empty());

  pmp q;
  q.write_address(0, 0x8000'0000 >> 2);
  q.write_address(1, 0x8000'3000 >> 2);
  q.write_config(0, 0x8d << 8);  // from entry 0 to entry 1: read and execute
  EXPECT_EQ(q.permissions(0x7fff'ffff), all_permissions);
  EXPECT_EQ(q.permissions(0x8000'0000), 5U);
  EXPECT_EQ(q.permissions(0x8000'2fff), 5U);
  EXPECT_EQ(q.permissions(0x8000'3000), all_permissions);
  EXPECT_EQ(q.borders(0x8000'0000, 0x8fff'ffff), (std::vector<std::uint64_t>{0x8000'3000}));
  EXPECT_FALSE(q.write_address(0, 0)) << "the start of a locked range";
  EXPECT_EQ(q.denied(0x7fff'fffc, 8, 2), 0x8000'0000U);
  EXPECT_EQ(q.denied(0x8000'0008, 8, 3), 0x8000'0008U);
  EXPECT_EQ(q.denied(0x7fff'fff8, 8, 2), std::nullopt);
  // A range whose top is not above its bottom matches nothing.
  q.write_address(3, 0x8000'0000 >> 2);
  q.write_address(2, 0x9000'0000 >> 2);
  q.write_config(0, 0x88ULL << 24);
  EXPECT_EQ(q.permissions(0x8800'0000), all_permissions);
}

}  // namespace
}  // namespace dvp::cpu::rv64
