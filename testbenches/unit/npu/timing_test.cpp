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

TEST(timing, functions_of_compressed_data_take_what_their_shapes_say) {
  using f = gen::vector_function;
  const auto cycles = [](f function, std::uint32_t rows, std::uint32_t columns) {
    return vector_cycles(wide_port(), descriptor_view(vector(function, rows, columns, {}, {}, {})));
  };
  EXPECT_EQ(cycles(f::encode, 20, 32), 24U + 2 * 40);
  EXPECT_EQ(cycles(f::difference, 20, 32), 16U + 40 + 2 * 32);
  EXPECT_EQ(cycles(f::column_max, 20, 32), 8U + 40);
  EXPECT_EQ(cycles(f::scale_columns, 20, 32), 4U + 40);
  EXPECT_EQ(cycles(f::gather_transpose, 20, 32), 8U + 40);
  EXPECT_EQ(cycles(f::transpose_codes, 20, 32), 8U + 40);
  EXPECT_EQ(cycles(f::row_abs_sum, 20, 32), 8U + 2 * 32);
}

TEST(timing, rows_that_a_list_picks_move_as_often_as_they_are_picked) {
  gen::rebuild_descriptor rebuild;
  rebuild.header.op = gen::opcode::rebuild;
  rebuild.header.tag_precision = gen::precision::q4;
  rebuild.header.function = gen::rebuild_mode::rotate;
  rebuild.rows = 10;
  rebuild.columns = 32;
  rebuild.codes_stride = 16;
  rebuild.d_stride = 64;
  std::uint64_t last = 0;
  for (const std::uint32_t limit : {10U, 200U, 4000U}) {
    rebuild.rank_limit = 2 | limit << 8;
    // Codes, coefficients and scale, basis, rotary rows, list, result.
    EXPECT_EQ(port_bytes(descriptor_view(rebuild)), 160U + 10 * 6 + 128 + 10 * 128 + 40 + 640) << "limit " << limit;
    // A pass for each of the rank, the residual and the rotation; the port takes 37 cycles.
    last = vector_cycles(npu_config(), descriptor_view(rebuild));
    EXPECT_EQ(last, 24U + (2 + 2) * 20);
  }
  rebuild.rank_limit = 16 | 200 << 8;
  EXPECT_EQ(vector_cycles(npu_config(), descriptor_view(rebuild)), last + 14 * 20);
  rebuild.header.tag_precision = gen::precision::q0;
  rebuild.header.function = 0;
  rebuild.rank_limit = 200 << 8;
  EXPECT_EQ(port_bytes(descriptor_view(rebuild)), 10U * 2 + 40 + 640) << "no codes, no basis, no rotation";

  gen::update_descriptor update;
  update.header.op = gen::opcode::update;
  update.rows = 10;
  update.columns = 8;
  update.list = 0x100;
  for (const std::uint32_t state_rows : {10U, 384U}) {
    update.state_rows = state_rows;
    // Gate, up, state read and written, list, scales, result.
    EXPECT_EQ(port_bytes(descriptor_view(update)), 320U + 320 + 2 * 320 + 40 + 20 + 160);
    EXPECT_EQ(vector_cycles(wide_port(), descriptor_view(update)), 24U + 3 * 5);
    EXPECT_EQ(vector_cycles(npu_config(), descriptor_view(update)), 24U + 24) << "1500 bytes at 64 a cycle";
  }
  update.list = gen::no_list;
  EXPECT_EQ(port_bytes(descriptor_view(update)), 1460U);

  gen::vector_descriptor gather =
      vector(gen::vector_function::gather_transpose, 10, 3, {0, 6}, {0x1000, 0}, {0x2000, 20});
  gather.scalar_int = 1000;
  EXPECT_EQ(port_bytes(descriptor_view(gather)), 60U + 40 + 60);
  gen::vector_descriptor codes = vector(gen::vector_function::transpose_codes, 10, 3, {0, 2}, {}, {0x2000, 5});
  codes.header.tag_precision = gen::precision::q4;
  EXPECT_EQ(port_bytes(descriptor_view(codes)), 10U * 2 + 3 * 5);
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
