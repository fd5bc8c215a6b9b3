// Blocks of rows: which addresses and data they are, against a copy written out row by row; what is refused.
#include "tlm/core/row_block.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tlm/core/byte_access.h"

namespace dvp::core {
namespace {

constexpr std::uint64_t memory_bytes = 4096;

struct block_read {
  std::vector<std::uint8_t> memory = std::vector<std::uint8_t>(memory_bytes);
  std::vector<std::uint8_t> data;
  tlm::tlm_generic_payload payload;

  block_read(std::uint64_t address, unsigned int length) : data(length) {
    std::iota(memory.begin(), memory.end(), std::uint8_t{7});
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(data.data());
    payload.set_data_length(length);
    payload.set_streaming_width(length);
  }
  tlm::tlm_response_status check(const row_block& block) {
    return check_rows(payload, block, [](const auto& row) { return check_bytes(row, memory_bytes); });
  }
  void move(const row_block& block) {
    for_each_row(payload, block, [this](auto& row) {
      move_bytes(row, memory.data());
      return true;
    });
  }
  void expect_as_before(std::uint64_t address) {
    EXPECT_EQ(payload.get_address(), address);
    EXPECT_EQ(payload.get_data_ptr(), data.data());
    EXPECT_EQ(payload.get_data_length(), data.size());
    EXPECT_EQ(payload.get_streaming_width(), data.size());
  }
};

TEST(row_block, rows_at_a_stride_and_rows_of_a_list_are_moved_and_the_payload_is_as_before) {
  const std::vector<std::uint32_t> list = {3, 0, 0, 9};
  for (const std::uint32_t* rows : {static_cast<const std::uint32_t*>(nullptr), list.data()}) {
    block_read b(100, 4 * 24);
    const row_block block{4, 60, rows};
    ASSERT_EQ(b.check(block), tlm::TLM_OK_RESPONSE);
    b.expect_as_before(100);
    b.move(block);
    b.expect_as_before(100);
    for (std::size_t i = 0; i < b.data.size(); ++i) {
      const std::uint64_t row = rows == nullptr ? i / 24 : list[i / 24];
      ASSERT_EQ(b.data[i], b.memory[100 + 60 * row + i % 24]) << "byte " << i;
    }
    EXPECT_EQ(block.last_offset(), 60U * (rows == nullptr ? 3 : 9));
  }
}

TEST(row_block, what_is_not_whole_rows_inside_the_memory_is_refused) {
  block_read b(3000, 4 * 24);
  EXPECT_EQ(b.check({5, 60}), tlm::TLM_BURST_ERROR_RESPONSE) << "96 bytes are no five rows";
  EXPECT_EQ(b.check({0, 60}), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(b.check({4, 357}), tlm::TLM_OK_RESPONSE) << "3000 + 3 * 357 + 24 = 4095";
  EXPECT_EQ(b.check({4, 358}), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  // Of rows whose addresses wrap around each is asked: the last of these is inside again.
  EXPECT_EQ(b.check({4, (std::uint64_t{1} << 63) + 1}), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  const std::vector<std::uint32_t> list = {0, 80, 0, 1};
  EXPECT_EQ(b.check({4, 60, list.data()}), tlm::TLM_ADDRESS_ERROR_RESPONSE);
  b.payload.set_streaming_width(24);
  EXPECT_EQ(b.check({4, 60}), tlm::TLM_BURST_ERROR_RESPONSE);
  EXPECT_EQ(b.check({1, 0}), tlm::TLM_OK_RESPONSE) << "one row may stream";
}

}  // namespace
}  // namespace dvp::core
