// The parts of multi-block speculation, by hand.
#include "firmware/dllm/drafts.h"

#include <limits>
#include <vector>

#include "gtest/gtest.h"

namespace dvp::dllm {
namespace {

TEST(latency_table, without_entries_the_row_tile_is_the_stair) {
  const latency_table table{.row_tile = 8};
  EXPECT_EQ(table.same_time(1, 100), 8u);
  EXPECT_EQ(table.same_time(8, 100), 8u);
  EXPECT_EQ(table.same_time(9, 100), 16u);
  EXPECT_EQ(table.same_time(9, 13), 13u);
  EXPECT_EQ(table.same_time(9, 5), 9u) << "never fewer";
}

TEST(latency_table, entries) {
  latency_table table{.count = 4, .row_tile = 1};
  table.entries[0] = {10, 100};
  table.entries[1] = {20, 150};
  table.entries[2] = {25, 150};
  table.entries[3] = {40, 151};
  EXPECT_EQ(table.same_time(1, 100), 10u);
  EXPECT_EQ(table.same_time(10, 100), 10u);
  EXPECT_EQ(table.same_time(11, 100), 25u) << "entries of the same time are one stair";
  EXPECT_EQ(table.same_time(11, 22), 22u);
  EXPECT_EQ(table.same_time(26, 100), 40u);
  EXPECT_EQ(table.same_time(41, 100), 41u) << "nothing is known";
  EXPECT_EQ(table.same_time(26, 5), 26u);
}

draft_set some_drafts() {
  draft_set d{.base = 40, .held = 0b1011'0000'0010};
  for (std::uint32_t i = 0; i < most_drafts; ++i) {
    d.tokens[i] = 100 + i;
    d.confidences[i] = static_cast<float>(i);
  }
  return d;
}

TEST(drafts, move_on_by_blocks) {
  draft_set d = some_drafts();
  const draft_set block = take_block(d, 8);
  EXPECT_EQ(block.base, 40u);
  EXPECT_EQ(block.held, 0b10u);
  EXPECT_EQ(block.tokens[1], 101u);
  EXPECT_EQ(d.base, 48u);
  EXPECT_EQ(d.held, 0b1011u);
  EXPECT_EQ(d.tokens[3], 111u);
  EXPECT_EQ(d.confidences[3], 11.0f);
  draft_set all = some_drafts();
  EXPECT_EQ(take_block(all, 64).held, some_drafts().held);
  EXPECT_EQ(all.held, 0u);
  EXPECT_EQ(all.base, 104u);
}

TEST(drafts, are_confirmed_by_rank_and_token) {
  draft_set d{.base = 0, .held = 0b01101};
  d.tokens = {5, 0, 7, 9};
  const std::vector<float> c = {0.4f, 0.9f, 0.5f, 0.2f, 0.3f};
  // Three drafts: the three most confident masks are 1, 2 and 0.
  EXPECT_EQ(confirmed(d, c, std::vector<std::uint32_t>{5, 0, 7, 9, 0}, 0b11111), 0b00101u);
  EXPECT_EQ(confirmed(d, c, std::vector<std::uint32_t>{6, 0, 7, 9, 0}, 0b11111), 0b00100u) << "another token";
  EXPECT_EQ(confirmed(d, c, std::vector<std::uint32_t>{5, 0, 7, 9, 0}, 0b11101), 0b00101u);
  EXPECT_EQ(confirmed(d, c, std::vector<std::uint32_t>{5, 0, 7, 9, 0}, 0b01101), 0b01101u);
  d.held = 0;
  EXPECT_EQ(confirmed(d, c, std::vector<std::uint32_t>{5, 0, 7, 9, 0}, 0b11111), 0u);
}

TEST(drafts, are_kept_above_the_threshold) {
  draft_set d{.base = 4, .held = 0b1};
  d.tokens[0] = 3;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> c = {0.9f, 0.5f, 0.6f, nan, 0.7f};
  const std::vector<std::uint32_t> predicted = {1, 2, 3, 4, 5};
  draft_set inclusive = d;
  EXPECT_EQ(add_drafts(d, c, predicted, 0b01110, 0.5f, false), 1u);
  EXPECT_EQ(d.held, 0b101u);
  EXPECT_EQ(d.tokens[0], 3u) << "what is held stays";
  EXPECT_EQ(d.tokens[2], 3u);
  EXPECT_EQ(d.confidences[2], 0.6f);
  EXPECT_EQ(add_drafts(inclusive, c, predicted, 0b01110, 0.5f, true), 2u);

  std::vector<std::uint32_t> tokens(12, 77);
  show(d, tokens);
  EXPECT_EQ(tokens, (std::vector<std::uint32_t>{77, 77, 77, 77, 3, 77, 3, 77, 77, 77, 77, 77}));
  hide(d, tokens, 77);
  EXPECT_EQ(tokens, std::vector<std::uint32_t>(12, 77));
}

}  // namespace
}  // namespace dvp::dllm
