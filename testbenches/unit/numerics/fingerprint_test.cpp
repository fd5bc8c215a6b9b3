// The bits do not depend on compiler, optimisation level, vector width or machine: every build must find these numbers.
// A change here is a change of the numerics contract.
#include "testbenches/unit/numerics/fingerprint.h"

#include <gtest/gtest.h>

namespace dvp::numerics::test {
namespace {

TEST(fingerprint, special) {
  EXPECT_EQ(fingerprint(part::special), 0x30c7'00b5'6a21'b878u);
}
TEST(fingerprint, rotary) {
  EXPECT_EQ(fingerprint(part::rotary), 0x5242'cc68'e6e7'5d1au);
}
TEST(fingerprint, rows) {
  EXPECT_EQ(fingerprint(part::rows), 0x9cfa'e61f'1695'2c0eu);
}
TEST(fingerprint, sampling) {
  EXPECT_EQ(fingerprint(part::sampling), 0xaf00'b5db'7f8d'50b9u);
}
TEST(fingerprint, chains) {
  EXPECT_EQ(fingerprint(part::chains), 0x323a'cf1e'0357'9d1du);
}
TEST(fingerprint, compressed) {
  EXPECT_EQ(fingerprint(part::compressed), 0x28f2'd1da'd358'ed3au);
}

}  // namespace
}  // namespace dvp::numerics::test
