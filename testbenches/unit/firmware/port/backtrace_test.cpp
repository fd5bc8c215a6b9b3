// Backtraces over code and stacks made by hand.
#include "firmware/port/riscv/backtrace.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace dvp::port {
namespace {

// Halfwords of RV64 code.
constexpr std::uint16_t nop = 0x0001;
constexpr std::uint16_t addi_sp_m32 = 0x1101, sd_s0_24 = 0xec22, addi_s0_sp_32 = 0x1000;  // compressed
constexpr std::uint16_t long_addi_s0_sp[2] = {0x0413, 0x0201};                            // addi s0, sp, 32
constexpr std::uint16_t ret = 0x8082;
constexpr std::uint16_t unimp = 0x0000, addi_s1_sp_32 = 0x1004;  // look alike, but set up no frame

// Functions of 16 bytes each: `framed` sets its frame up in its third instruction, `wide` with the long encoding of it,
// `bare` never.
constexpr std::uint64_t framed = 0, wide = 16, bare = 32, other = 48, text_bytes = 64;
alignas(8) constexpr std::uint16_t code[4][8] = {
    {addi_sp_m32, sd_s0_24, addi_s0_sp_32, nop, nop, nop, nop, ret},                      // framed
    {addi_sp_m32, sd_s0_24, long_addi_s0_sp[0], long_addi_s0_sp[1], nop, nop, nop, ret},  // wide
    {nop, addi_s1_sp_32, unimp, nop, nop, nop, nop, ret},                                 // bare
    {addi_sp_m32, sd_s0_24, addi_s0_sp_32, nop, nop, nop, nop, ret},                      // other
};
static_assert(sizeof(code) == text_bytes);

const std::uint64_t text = reinterpret_cast<std::uint64_t>(code);

class backtraces : public ::testing::Test {
 protected:
  backtraces() : table_(make_table()), symbols_(table_.data(), text, text + text_bytes) {
    constexpr std::size_t page = 4096;
    region_ = mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_ = reinterpret_cast<std::uint64_t*>(static_cast<char*>(region_) + page);
    EXPECT_EQ(mprotect(stack_, page, PROT_READ | PROT_WRITE), 0);
    bounds_ = {at(0), at(words)};
  }
  ~backtraces() override { munmap(region_, 3 * 4096); }

  static constexpr std::size_t words = 4096 / 8;

  std::uint64_t at(std::size_t word) const { return reinterpret_cast<std::uint64_t>(stack_ + word); }
  // A frame whose entry stack address is word `entry`.
  void frame(std::size_t entry, std::uint64_t return_offset, std::uint64_t caller_s0) {
    stack_[entry - 1] = text + return_offset;
    stack_[entry - 2] = caller_s0;
  }
  std::vector<std::uint64_t> trace(std::uint64_t pc, std::uint64_t ra, std::uint64_t s0, std::size_t most = 16) {
    std::vector<std::uint64_t> callers(most);
    callers.resize(backtrace(symbols_, {.pc = pc, .ra = ra, .s0 = s0}, bounds_, callers));
    for (std::uint64_t& c : callers) c -= text;
    return callers;
  }

  static std::vector<std::uint32_t> make_table() {
    const char texts[] = "title 1\0framed\0wide\0bare\0other";
    std::vector<std::uint32_t> words = {4, 76, 44, framed, 52, wide, 59, bare, 64, other, 69};
    const std::size_t first = words.size();
    words.resize(first + (sizeof(texts) + 3) / 4);
    std::memcpy(words.data() + first, texts, sizeof(texts));
    return words;
  }

  std::vector<std::uint32_t> table_;
  symbol_table symbols_;
  void* region_ = nullptr;
  std::uint64_t* stack_ = nullptr;
  stack_range bounds_{};
};

using offsets = std::vector<std::uint64_t>;

TEST_F(backtraces, names) {
  EXPECT_STREQ(symbols_.title(), "title 1");
  EXPECT_EQ(symbols_.bytes(), 4 * table_.size());
  EXPECT_STREQ(symbols_.find(text).function, "framed");
  EXPECT_STREQ(symbols_.find(text + 15).function, "framed");
  EXPECT_STREQ(symbols_.find(text + 16).function, "wide");
  EXPECT_STREQ(symbols_.find(text + 47).function, "bare");
  EXPECT_EQ(symbols_.find(text + 50).start, text + other);
  EXPECT_STREQ(symbols_.find(text + text_bytes - 1).function, "other");
  EXPECT_EQ(symbols_.find(text + text_bytes).function, nullptr);
  EXPECT_EQ(symbols_.find(text - 1).function, nullptr);
  EXPECT_EQ(symbols_.find(0).function, nullptr);
}

TEST_F(backtraces, code_before_the_first_function_has_no_name) {
  table_[3] = 4;
  EXPECT_EQ(symbols_.find(text + 3).function, nullptr);
  EXPECT_STREQ(symbols_.find(text + 4).function, "framed");
  table_[0] = 0;
  EXPECT_EQ(symbols_.find(text + 20).function, nullptr) << "an empty table";
}

// other called wide called framed; the first frame's s0 is 0.
TEST_F(backtraces, frames_in_order) {
  frame(100, wide + 10, at(104));
  frame(104, other + 10, at(110));
  frame(110, bare + 4, 0);
  EXPECT_EQ(trace(text + framed + 8, text + framed + 8, at(100)), (offsets{wide + 10, other + 10, bare + 4}));
  // Before its first call, ra is what was saved.
  EXPECT_EQ(trace(text + framed + 8, text + wide + 10, at(100)), (offsets{wide + 10, other + 10, bare + 4}));
}

TEST_F(backtraces, before_the_frame_is_set_up_ra_leads_on) {
  frame(104, other + 10, at(110));
  frame(110, bare + 4, 0);
  const offsets expected = {wide + 10, other + 10, bare + 4};
  for (std::uint64_t pc : {framed, framed + 2, framed + 4}) {
    EXPECT_EQ(trace(text + pc, text + wide + 10, at(104)), expected) << pc;
  }
}

TEST_F(backtraces, a_recursive_call_before_its_frame_is_set_up) {
  frame(104, framed + 10, at(108));
  frame(108, other + 10, 0);
  EXPECT_EQ(trace(text + framed + 4, text + framed + 8, at(104)), (offsets{framed + 8, framed + 10, other + 10}));
}

TEST_F(backtraces, behind_a_call_that_ends_its_function) {
  frame(100, other + 10, 0);
  EXPECT_EQ(trace(text + framed + 14, text + wide, at(100)), (offsets{other + 10})) << "ra is in the next function";
}

TEST_F(backtraces, a_frame_that_is_not_aligned_is_none) {
  const std::uint64_t saved[] = {0, text + other + 10};
  std::memcpy(reinterpret_cast<char*>(stack_ + 98) + 4, saved, sizeof(saved));
  EXPECT_EQ(trace(text + bare + 8, text + wide + 10, at(100) + 4), (offsets{wide + 10}));
}

TEST_F(backtraces, the_long_encoding_sets_a_frame_too) {
  frame(100, other + 10, at(110));
  frame(110, bare + 4, 0);
  EXPECT_EQ(trace(text + wide + 8, text + other + 10, at(100)), (offsets{other + 10, bare + 4}));
  // Inside of `wide`, but still before it: s0 is its caller's.
  EXPECT_EQ(trace(text + wide + 4, text + framed + 8, at(100)), (offsets{framed + 8, other + 10, bare + 4}));
}

TEST_F(backtraces, a_function_without_a_frame) {
  frame(104, other + 10, 0);
  EXPECT_EQ(trace(text + bare + 8, text + wide + 10, at(104)), (offsets{wide + 10, other + 10}));
  EXPECT_EQ(trace(text + bare + 8, text + bare + 6, at(104)), (offsets{bare + 6, other + 10}));
}

TEST_F(backtraces, a_leaf_keeps_only_s0) {
  stack_[99] = at(104);
  frame(104, other + 10, 0);
  EXPECT_EQ(trace(text + framed + 8, text + wide + 10, at(100)), (offsets{wide + 10, other + 10}));
}

TEST_F(backtraces, behind_the_epilogue_s0_is_the_callers_again) {
  frame(104, other + 10, at(110));
  frame(110, bare + 4, 0);
  EXPECT_EQ(trace(text + framed + 14, text + wide + 10, at(104)), (offsets{wide + 10, other + 10, bare + 4}));
}

TEST_F(backtraces, a_jump_to_nowhere) {
  frame(104, other + 10, 0);
  EXPECT_EQ(trace(0x40, text + wide + 10, at(104)), (offsets{wide + 10, other + 10}));
  EXPECT_EQ(trace(0x40, 0x44, at(104)), offsets{}) << "nothing leads on";
  EXPECT_EQ(trace(~std::uint64_t{0}, 0, 0), offsets{});
}

TEST_F(backtraces, only_as_many_as_fit) {
  for (std::size_t entry = 10; entry + 4 < words; entry += 4) frame(entry, framed + 10, at(entry + 4));
  EXPECT_EQ(trace(text + framed + 10, text + framed + 10, at(10), 5), offsets(5, framed + 10));
  EXPECT_EQ(trace(text + framed + 10, text + framed + 10, at(10), 0), offsets{});
}

TEST_F(backtraces, a_circle_ends) {
  frame(100, framed + 10, at(104));
  frame(104, framed + 10, at(100));
  EXPECT_EQ(trace(text + framed + 10, text + framed + 10, at(100)), offsets(2, framed + 10));
}

// Words outside of the stack lie on inaccessible pages: a read there ends the test.
TEST_F(backtraces, a_ruined_stack_does_no_harm) {
  constexpr unsigned seed = 7;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::minstd_rand random(seed);
  const auto word = [&]() -> std::uint64_t {
    switch (random() % 8) {
      case 0:
      case 1:
      case 2:
        return at(random() % (words + 1)) + (random() % 8 == 0 ? random() % 8 : 0);
      case 3:
      case 4:
      case 5:
        return text + random() % text_bytes;
      case 6:
        return at(random() % 2 * words) - 32 + random() % 9 * 8;
      default:
        return std::uint64_t{random()} << 32 | random();
    }
  };
  std::size_t longest = 0;
  for (int round = 0; round < 20'000; ++round) {
    for (int i = 0; i < 40; ++i) stack_[random() % words] = word();
    const offsets callers = trace(word(), word(), word());
    longest = std::max(longest, callers.size());
    for (const std::uint64_t c : callers) ASSERT_LT(c, std::uint64_t{text_bytes});
  }
  EXPECT_GE(longest, 4u) << "the test never got far";
}

}  // namespace
}  // namespace dvp::port
