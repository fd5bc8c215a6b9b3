// Edges of CK as times, for clocks that the time resolution does not divide.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tlm/lpddr5/ck_clock.h"

namespace dvp::lpddr5 {
namespace {

TEST(ck_clock, edges_are_the_nearest_picoseconds_and_every_time_lies_between_two) {
  std::mt19937_64 random(17);
  for (const std::uint64_t tCK_fs : {1'250'000, 937'500, 1'454'545, 1'000'000}) {
    const ck_clock clock(tCK_fs);
    for (int i = 0; i < 20'000; ++i) {
      const auto n = static_cast<cycles>(i < 10'000 ? static_cast<std::uint64_t>(i) : random() >> 24);
      const std::uint64_t at = clock.at(n);
      const long double exact = static_cast<long double>(n) * static_cast<long double>(tCK_fs) / 1000;
      ASSERT_LE(std::fabs(static_cast<long double>(at) - exact), 0.5L) << n << " clocks of " << tCK_fs << " fs";
      ASSERT_EQ(clock.down(at), n);
      ASSERT_EQ(clock.up(at), n);
      ASSERT_EQ(clock.down(at + 1), n);
      ASSERT_EQ(clock.up(at + 1), n + 1);
      const std::uint64_t t = at + random() % 1000;
      ASSERT_LE(clock.at(clock.down(t)), t);
      ASSERT_GT(clock.at(clock.down(t) + 1), t);
      ASSERT_GE(clock.at(clock.up(t)), t);
    }
  }
}

}  // namespace
}  // namespace dvp::lpddr5
