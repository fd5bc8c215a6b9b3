#include "tlm/finisher/finisher.h"

#include <gtest/gtest.h>

#include "testbenches/lib/register_driver.h"

namespace dvp::finisher {
namespace {

using gen::finisher::outcome;
using call = std::pair<outcome, std::uint32_t>;

TEST(finisher, tells_outcome_and_code_and_ignores_the_rest) {
  finisher device("finisher");
  test::register_driver registers(device);
  test::settle();
  registers.write(0, 0x5555);  // nobody listens yet
  std::vector<call> calls;
  device.on_finish([&](outcome what, std::uint32_t code) { calls.emplace_back(what, code); });
  registers.write(0, 0x5555);
  registers.write(0, 0x0007'3333);
  registers.write(0, 0xffff'3333);
  registers.write(0, 0x7777);
  registers.write(0, 0x0009'5555);
  for (const std::uint32_t other : {0U, 1U, 0x3332U, 0x5556U, 0x3333'0000U, ~0U}) registers.write(0, other);
  EXPECT_EQ(
      calls,
      (std::vector<call>{
          {outcome::pass, 0}, {outcome::fail, 7}, {outcome::fail, 0xffff}, {outcome::reset, 0}, {outcome::pass, 0}}));
  EXPECT_EQ(registers.read(0), 0U);
  EXPECT_EQ(registers.debug_read(0), 0U);
  EXPECT_EQ(registers.try_write(4, 0x5555), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(calls.size(), 5U);
}

}  // namespace
}  // namespace dvp::finisher
