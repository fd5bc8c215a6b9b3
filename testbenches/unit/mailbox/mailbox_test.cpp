// The mailbox as host and firmware see it: requests, acceptance, the line, and requests set from inside a handler.
#include "tlm/mailbox/mailbox.h"

#include <gtest/gtest.h>

#include "dvp_gen/mailbox_regs.h"
#include "testbenches/lib/register_driver.h"

namespace dvp::mailbox {
namespace {

namespace reg = gen::mailbox;

struct bench {
  mailbox box{"mailbox"};
  sc_core::sc_signal<bool> line{"line"};
  test::register_driver registers{box};

  bench() {
    box.interrupt.bind(line);
    test::settle();
  }
  bool interrupt() {
    test::settle();
    return line.read();
  }
  std::uint64_t request() {
    return std::uint64_t{registers.read(reg::request_hi::offset)} << 32 | registers.read(reg::request_lo::offset);
  }
};

TEST(mailbox, a_request_raises_the_line_until_it_is_accepted) {
  bench b;
  EXPECT_FALSE(b.interrupt());
  EXPECT_EQ(b.registers.read(reg::request_state::offset), 0U);
  b.box.set_request(0x8'1234'5678);
  EXPECT_TRUE(b.interrupt());
  EXPECT_EQ(b.registers.read(reg::request_state::offset), 1U);
  EXPECT_EQ(b.request(), 0x8'1234'5678U);
  b.registers.write(reg::request_state::offset, 0);
  EXPECT_TRUE(b.interrupt()) << "writing 0 accepted it";
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_FALSE(b.interrupt());
  EXPECT_EQ(b.request(), 0x8'1234'5678U) << "the address stays after acceptance";
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_FALSE(b.interrupt()) << "accepting nothing raised the line";

  b.box.set_request(0x10);
  b.box.set_request(0x20);
  EXPECT_TRUE(b.interrupt());
  EXPECT_EQ(b.request(), 0x20U) << "the later request counts";
}

TEST(mailbox, handlers_run_inside_the_write_and_may_set_the_next_request) {
  bench b;
  std::vector<std::string> seen;
  b.box.on_progress([&](std::uint32_t value) { seen.push_back("progress " + std::to_string(value)); });
  b.box.on_finish([&](std::uint32_t code) {
    seen.push_back("finish " + std::to_string(code));
    if (seen.size() < 4) b.box.set_request(0x1000 * seen.size());
  });
  b.box.set_request(0x40);
  b.registers.write(reg::request_state::offset, 1);
  b.registers.write(reg::progress::offset, 0x8000'0001);
  b.registers.write(reg::finish::offset, 0xffff'ff03);
  EXPECT_EQ(seen, (std::vector<std::string>{"progress 2147483649", "finish 3"}));
  EXPECT_TRUE(b.interrupt()) << "the request set by the handler";
  EXPECT_EQ(b.request(), 0x2000U);
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_FALSE(b.interrupt());
  b.registers.write(reg::finish::offset, 0);
  EXPECT_TRUE(b.interrupt());
  EXPECT_EQ(b.request(), 0x3000U);
}

TEST(mailbox, each_request_is_accepted_once) {
  bench b;
  int accepted = 0;
  b.box.on_accept([&] { ++accepted; });
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_EQ(accepted, 0) << "there was no request";
  b.box.set_request(0x10);
  b.registers.write(reg::request_state::offset, 0);
  EXPECT_EQ(accepted, 0) << "writing 0 accepted it";
  b.registers.write(reg::request_state::offset, 1);
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_EQ(accepted, 1);
  b.box.set_request(0x10);
  b.registers.write(reg::request_state::offset, 1);
  EXPECT_EQ(accepted, 2);
}

TEST(mailbox, nobody_needs_to_listen) {
  bench b;
  b.registers.write(reg::progress::offset, 1);
  b.registers.write(reg::finish::offset, 1);
  EXPECT_EQ(b.registers.try_write(reg::request_lo::offset, 1), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.registers.debug_read(reg::request_state::offset), 0U);
  EXPECT_EQ(b.box.bank().refused(), 1U);
}

}  // namespace
}  // namespace dvp::mailbox
