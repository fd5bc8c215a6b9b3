#include "tlm/converter/converter.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "testbenches/lib/register_driver.h"
#include "testbenches/lib/tlm_initiator.h"

namespace dvp::converter {
namespace {

using numerics::view;
using numerics::view_mode;
using call = std::pair<std::uint32_t, view>;

// The register map of the published specification, written out here on purpose.
constexpr std::uint32_t id = 0, views = 4;
constexpr std::uint32_t view_at(std::uint32_t number) {
  return 0x200 + 4 * (number - 1);
}
constexpr std::uint32_t word(std::uint32_t precision, std::uint32_t mode, std::uint32_t shift, std::uint32_t clip,
                             std::uint32_t threshold) {
  return precision | mode << 4 | shift << 8 | clip << 16 | threshold << 24;
}

struct bench {
  std::vector<call> calls;
  bool takes = true;
  converter device;
  test::register_driver registers{device};

  explicit bench(std::uint32_t count)
      : device("converter", count, [this](std::uint16_t number, const view& v) {
          calls.emplace_back(number, v);
          return takes;
        }) {
    test::settle();
  }
};

TEST(converter, every_field_reaches_the_memory_under_its_number) {
  bench b(128);
  EXPECT_EQ(b.registers.read(id), 0x64564331U);
  EXPECT_EQ(b.registers.read(views), 128U);
  b.registers.write(view_at(1), word(4, 2, 5, 100, 0));
  b.registers.write(view_at(128), word(2, 2, 0, 0, 77));
  b.registers.write(view_at(64), word(4, 1, 7, 127, 127));
  b.registers.write(view_at(2), word(2, 3, 0, 0, 0));
  b.registers.write(view_at(3), word(4, 0, 0, 0, 0) | 0x8080'f8c0);  // bits between the fields do not exist
  EXPECT_EQ(b.calls, (std::vector<call>{{1, {4, view_mode::fitted, 100, 5, 0}},
                                        {128, {2, view_mode::fitted, 0, 0, 77}},
                                        {64, {4, view_mode::round, 127, 7, 127}},
                                        {2, {2, view_mode::truncate, 0, 0, 0}},
                                        {3, {4, view_mode::midpoint, 0, 0, 0}}}));
  EXPECT_EQ(b.registers.read(view_at(1)), word(4, 2, 5, 100, 0));
  EXPECT_EQ(b.registers.read(view_at(128)), word(2, 2, 0, 0, 77));
  EXPECT_EQ(b.registers.read(view_at(3)), word(4, 0, 0, 0, 0));
  EXPECT_EQ(b.registers.read(view_at(4)), 0U) << "not set";
  EXPECT_EQ(b.registers.try_write(id, 1), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.registers.try_write(views, 1), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.registers.try_write(view_at(129), word(4, 0, 0, 0, 0)), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  EXPECT_EQ(b.calls.size(), 5U);
}

TEST(converter, what_the_memory_refuses_reads_back_as_before) {
  bench b(128);
  b.takes = false;
  b.registers.write(view_at(7), word(4, 1, 0, 0, 0));
  EXPECT_EQ(b.registers.read(view_at(7)), 0U);
  b.takes = true;
  b.registers.write(view_at(7), word(4, 1, 0, 0, 0));
  b.takes = false;
  b.registers.write(view_at(7), word(5, 1, 0, 0, 0));
  b.registers.write(view_at(7), 0);
  EXPECT_EQ(b.registers.read(view_at(7)), word(4, 1, 0, 0, 0));
  EXPECT_EQ(b.registers.debug_read(view_at(7)), word(4, 1, 0, 0, 0));
  EXPECT_EQ(b.calls.size(), 4U);
}

TEST(converter, a_small_table_takes_only_its_own_numbers) {
  bench b(2);
  EXPECT_EQ(b.registers.read(views), 2U);
  for (const std::uint32_t number : {1U, 2U, 3U, 128U}) b.registers.write(view_at(number), word(2, 1, 0, 0, 0));
  EXPECT_EQ(b.calls.size(), 2U);
  EXPECT_EQ(b.registers.read(view_at(2)), word(2, 1, 0, 0, 0));
  EXPECT_EQ(b.registers.read(view_at(3)), 0U);
}

TEST(converter, a_memory_that_does_not_convert_is_never_asked) {
  bench b(0);
  EXPECT_EQ(b.registers.read(views), 0U);
  b.registers.write(view_at(1), word(4, 0, 0, 0, 0));
  EXPECT_EQ(b.registers.read(view_at(1)), 0U);
  EXPECT_EQ(b.calls.size(), 0U);
}

TEST(converter, more_views_than_registers_are_fatal) {
  test::throw_on_fatal();
  try {
    converter device("converter", 129, [](std::uint16_t, const view&) { return true; });
    FAIL() << "accepted";
  } catch (const sc_core::sc_report& report) {
    EXPECT_STREQ(report.get_msg(), "converter: 129 views, the registers hold 0 to 128");
  }
}

}  // namespace
}  // namespace dvp::converter
