#include "tlm/npu/timing.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "testbenches/unit/npu/descriptors.h"

namespace dvp::npu {
namespace {

using namespace test;

npu_config wide_port() {
  npu_config config;
  config.scratchpad_bytes_per_cycle = 1 << 20;
  return config;
}

TEST(timing, element_passes_share_lanes_and_serial_passes_give_each_row_one) {
  EXPECT_EQ(pass_cycles({99, 2, 0}, 16, 3, 10), 2U * 2);
  EXPECT_EQ(pass_cycles({99, 0, 1}, 16, 3, 10), 10U);
  EXPECT_EQ(pass_cycles({99, 1, 2}, 16, 17, 10), 11U + 2 * 2 * 10);
}

TEST(timing, a_function_takes_its_latency_and_the_longer_of_passes_and_port) {
  using f = gen::vector_function;
  const descriptor_view add(vector(f::add, 8, 100, {0, 400}, {0x4000, 400}, {0x8000, 400}));
  EXPECT_EQ(vector_cycles(wide_port(), add), 4U + 50);
  // 3 * 3200 bytes at 64 a cycle
  EXPECT_EQ(vector_cycles(npu_config(), add), 4U + 150);
  const descriptor_view softmax(vector(f::softmax, 8, 100, {0, 400}, {}, {0x8000, 200}));
  EXPECT_EQ(vector_cycles(wide_port(), softmax), 32U + 2 * 50 + 100);
  const descriptor_view chunk(sample(20, 1000, {0, 4000}, 0x20000, 0x20800, 0));
  EXPECT_EQ(sample_cycles(wide_port(), chunk), 40U + 2 * 1000);
}

TEST(timing, validate_names_the_field) {
  EXPECT_NO_THROW(validate(npu_config()));
  const auto message = [](auto change) {
    npu_config config;
    change(config);
    try {
      validate(config);
    } catch (const std::invalid_argument& problem) {
      return std::string(problem.what());
    }
    return std::string();
  };
  EXPECT_NE(message([](npu_config& c) { c.clock_hz = 0; }).find("clock_hz is 0"), std::string::npos);
  EXPECT_NE(message([](npu_config& c) { c.queues = 3; }).find("queues"), std::string::npos);
  EXPECT_NE(message([](npu_config& c) { c.scratchpad_banks = 65; }).find("scratchpad_banks"), std::string::npos);
  EXPECT_NE(message([](npu_config& c) { c.scratchpad_bytes = 1000; }).find("scratchpad_bytes"), std::string::npos);
  EXPECT_NE(message([](npu_config& c) { c.scratchpad_bytes_per_cycle = 63; }).find("wide enough"), std::string::npos);
  EXPECT_NE(message([](npu_config& c) { c.dma_max_burst_bytes = 96; }).find("power of two"), std::string::npos);
}

}  // namespace
}  // namespace dvp::npu
