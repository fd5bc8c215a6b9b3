// The server's loop: requests one after another, its watch-dog, and a machine without a mailbox.
#include "dvp_gen/mailbox_regs.h"
#include "dvp_gen/system.h"
#include "firmware/apps/firmware.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"
#include "testbenches/unit/firmware/scripted_machine.h"

namespace dvp {
namespace {

using gen::result_code;
using testbench::bench;
using testbench::tiny_model;
using testbench::tiny_options;

const tiny_options causal = {
    .seed = 61, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2};

class server : public ::testing::Test {
 protected:
  server() : model_(causal), bench_(model_, {}, testbench::random_tokens(model_, 20, 62)) {}

  tiny_model model_;
  bench bench_;
};

// What a host does that has more to ask: it sets the next request while the finish register is being written. Its
// interrupt must not get lost, whatever the NPU left behind.
TEST_F(server, a_request_set_in_the_finish_handler_is_served_next) {
  std::vector<int> codes;
  std::vector<std::vector<std::uint32_t>> answers;
  const std::vector<std::uint32_t> prompt = bench_.tokens(20);
  bench_.machine().on_finish = [&](int code) {
    codes.push_back(code);
    answers.push_back(bench_.tokens(bench_.result().total_tokens));
    if (codes.size() < 3) {
      std::copy(prompt.begin(), prompt.end(), bench_.tokens());
      bench_.machine().set_request(bench_.request_address());
    }
  };
  bench_.machine().set_request(bench_.request_address());
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(bench_.server().serve_one(), result_code::ok);
  }
  EXPECT_EQ(codes, std::vector<int>(3, 0));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_GT(answers[0].size(), prompt.size());
  EXPECT_EQ(answers[1], answers[0]);
  EXPECT_EQ(answers[2], answers[0]);
  EXPECT_THROW(static_cast<void>(bench_.server().serve_one()), std::logic_error) << "there is no fourth";
}

TEST_F(server, the_watchdog_runs_while_a_request_does) {
  bench_.request().watchdog_us = 700;
  EXPECT_EQ(bench_.run(), result_code::ok);
  const std::vector<std::uint32_t> started = {1400, 0};
  EXPECT_EQ(bench_.machine().watchdog_starts(), started);
  EXPECT_GE(bench_.machine().watchdog_feeds(), bench_.result().forwards);
}

TEST_F(server, the_watchdog_time_neither_wraps_nor_vanishes) {
  bench_.request().watchdog_us = 0xc000'0000;
  EXPECT_EQ(bench_.run(), result_code::ok);
  bench_.request().watchdog_us = 0;
  EXPECT_EQ(bench_.run(), result_code::ok);
  const std::vector<std::uint32_t> started = {0xffff'ffff, 0, 60'000'000, 0};
  EXPECT_EQ(bench_.machine().watchdog_starts(), started);
}

TEST_F(server, a_request_outside_memory_is_refused_and_the_next_one_served) {
  bench_.machine().set_request(0x1000);
  EXPECT_EQ(bench_.server().serve_one(), result_code::bad_request);
  EXPECT_EQ(bench_.machine().finish_code, static_cast<int>(result_code::bad_request));
  EXPECT_EQ(bench_.run(), result_code::ok);
}

TEST(server_alone, without_a_mailbox_it_returns_at_once) {
  testbench::scripted_machine m;
  m.read(gen::system::mailbox_base + gen::mailbox::id::offset, 0xffff'ffff);
  apps::serve(gen::system::mailbox_base, gen::system::npu_base, gen::system::plic_base);
}

}  // namespace
}  // namespace dvp
