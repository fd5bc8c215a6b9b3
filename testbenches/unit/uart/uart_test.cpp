// Times and losses of the serial port against arithmetic on paper and against a closed form of its queue.
#include "tlm/uart/uart.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "dvp_gen/uart_regs.h"
#include "testbenches/lib/register_driver.h"

namespace dvp::uart {
namespace {

namespace reg = gen::uart;

struct moment {
  std::uint64_t time_ps;
  std::uint8_t byte;
  bool operator==(const moment&) const = default;
};
std::ostream& operator<<(std::ostream& out, const moment& item) {
  return out << int{item.byte} << " at " << item.time_ps;
}

class scripted_console : public console {
 public:
  std::vector<moment> put_bytes;
  std::deque<std::uint8_t> input;
  std::vector<std::uint64_t> asked;
  bool more_to_come = false;

  void put(std::uint8_t byte) override { put_bytes.push_back({sc_core::sc_time_stamp().value(), byte}); }
  std::optional<std::uint8_t> poll() override {
    asked.push_back(sc_core::sc_time_stamp().value());
    if (input.empty()) return std::nullopt;
    const std::uint8_t byte = input.front();
    input.pop_front();
    return byte;
  }
  bool may_send() const override { return more_to_come || !input.empty(); }
};

// 100 MHz and 1 Mbit/s: a bit takes 100 clocks, a character 10 us.
constexpr std::uint64_t character_ps = 10'000'000;

struct bench {
  scripted_console far_end;
  core::statistics figures;
  uart port;
  sc_core::sc_signal<bool> line{"line"};
  test::register_driver registers{port};

  explicit bench(const uart_config& config = {100'000'000, 1'000'000}) : port("uart", config, far_end, figures) {
    port.interrupt.bind(line);
    test::settle();
  }
  void run_ps(std::uint64_t time) {
    sc_core::sc_start(sc_core::sc_time(static_cast<double>(time), sc_core::SC_PS));
    test::settle();
  }
  void send(std::uint8_t byte) { registers.write(reg::txdata::offset, byte); }
  bool full() { return reg::txdata::full.get(registers.read(reg::txdata::offset)) != 0; }
  std::uint32_t receive() { return registers.read(reg::rxdata::offset); }
  void control(std::uint32_t transmit, std::uint32_t receive_side) {
    registers.write(reg::txctrl::offset, transmit);
    registers.write(reg::rxctrl::offset, receive_side);
  }
  std::uint64_t count(const char* what) { return figures.count_of(std::string("uart.") + what); }
};

constexpr std::uint32_t txen = 1, nstop = 2, rxen = 1;
constexpr std::uint32_t no_byte = 1U << 31;

TEST(uart, sends_one_byte_per_character_time_and_drops_what_does_not_fit) {
  bench b;
  for (std::uint8_t i = 0; i < 8; ++i) {
    EXPECT_FALSE(b.full());
    b.send(i);
  }
  EXPECT_TRUE(b.full());
  b.send(99);
  b.run_ps(5 * character_ps);
  EXPECT_TRUE(b.far_end.put_bytes.empty()) << "txen is 0";
  b.control(txen, 0);  // the oldest leaves the FIFO at once
  EXPECT_FALSE(b.full());
  b.send(8);
  EXPECT_TRUE(b.full());
  b.send(98);
  b.run_ps(20 * character_ps);
  std::vector<moment> expected;
  for (std::uint8_t i = 0; i < 9; ++i) expected.push_back({(6 + std::uint64_t{i}) * character_ps, i});
  EXPECT_EQ(b.far_end.put_bytes, expected);
  EXPECT_EQ(b.count("bytes_sent"), 9U);
  EXPECT_EQ(b.count("bytes_dropped"), 2U);
  EXPECT_EQ(b.registers.read(reg::txdata::offset), 0U) << "the data field reads as 0";
}

TEST(uart, divisor_and_stop_bits_set_the_time_of_the_next_character) {
  bench b;
  EXPECT_EQ(b.registers.read(reg::div::offset), 99U);
  b.control(txen, 0);
  b.send(1);
  b.registers.write(reg::div::offset, 0xf'0031);  // 50 clocks a bit; bits beyond the field are dropped
  EXPECT_EQ(b.registers.read(reg::div::offset), 0x31U);
  b.send(2);
  b.run_ps(12'000'000);
  b.control(txen | nstop, 0);
  b.send(3);
  b.run_ps(5'000'000);
  b.control(0, 0);  // the third is under way and goes; the fourth waits
  b.send(4);
  b.run_ps(100'000'000);
  EXPECT_EQ(b.far_end.put_bytes, (std::vector<moment>{{10'000'000, 1}, {15'000'000, 2}, {20'500'000, 3}}));
}

TEST(uart, receives_one_byte_per_character_time_while_there_is_room) {
  bench b;
  for (std::uint8_t i = 1; i <= 10; ++i) b.far_end.input.push_back(i);
  b.run_ps(5 * character_ps);
  EXPECT_TRUE(b.far_end.asked.empty()) << "rxen is 0";
  EXPECT_EQ(b.receive(), no_byte);
  b.control(0, rxen);
  b.run_ps(character_ps - 1);
  EXPECT_EQ(b.receive(), no_byte);
  b.run_ps(1);
  EXPECT_EQ(b.registers.debug_read(reg::rxdata::offset), 1U);
  EXPECT_EQ(b.receive(), 1U);
  EXPECT_EQ(b.receive(), no_byte);
  b.run_ps(100 * character_ps);
  EXPECT_EQ(b.far_end.asked.size(), 9U) << "asked without room";
  for (std::uint32_t i = 2; i <= 9; ++i) EXPECT_EQ(b.receive(), i);
  b.run_ps(100 * character_ps);
  EXPECT_EQ(b.receive(), 10U);
  EXPECT_EQ(b.far_end.asked.size(), 10U) << "asked although nothing can come";
  EXPECT_EQ(b.count("bytes_received"), 10U);
  b.registers.write(reg::rxdata::offset, 65);  // ignored
  EXPECT_EQ(b.receive(), no_byte);
}

TEST(uart, keeps_asking_while_something_may_come_and_stops_with_rxen) {
  bench b;
  b.far_end.more_to_come = true;
  b.control(0, rxen);
  b.run_ps(3 * character_ps);
  EXPECT_EQ(b.far_end.asked, (std::vector<std::uint64_t>{character_ps, 2 * character_ps, 3 * character_ps}));
  b.control(0, 0);
  b.run_ps(10 * character_ps);
  EXPECT_EQ(b.far_end.asked.size(), 3U);
}

// txwm: fewer bytes than txcnt wait; rxwm: more bytes than rxcnt are there.
TEST(uart, watermarks_and_the_interrupt_line) {
  bench b;
  b.registers.write(reg::ie::offset, 0xff);
  EXPECT_EQ(b.registers.read(reg::ie::offset), 3U);
  EXPECT_EQ(b.registers.read(reg::ip::offset), 0U);
  for (std::uint32_t count = 0; count < 8; ++count) {
    for (std::uint32_t mark = 0; mark < 8; ++mark) {
      b.control(mark << 16, 0);
      test::settle();
      EXPECT_EQ(b.registers.read(reg::ip::offset), count < mark ? 1U : 0U) << count << " bytes, txcnt " << mark;
      EXPECT_EQ(b.line.read(), count < mark);
    }
    b.send(0);
  }
  b.control(0, rxen);
  for (std::uint32_t count = 0; count < 8; ++count) {
    for (std::uint32_t mark = 0; mark < 8; ++mark) {
      b.control(0, rxen | mark << 16);
      test::settle();
      EXPECT_EQ(b.registers.read(reg::ip::offset), count > mark ? 2U : 0U) << count << " bytes, rxcnt " << mark;
      EXPECT_EQ(b.line.read(), count > mark);
    }
    b.far_end.input.push_back(7);
    b.control(0, rxen);
    b.run_ps(character_ps);
  }
  b.registers.write(reg::ie::offset, 1);
  test::settle();
  EXPECT_FALSE(b.line.read());
  EXPECT_EQ(b.registers.read(reg::ip::offset), 2U);
  b.registers.write(reg::ie::offset, 2);
  test::settle();
  EXPECT_TRUE(b.line.read());
  for (int i = 0; i < 8; ++i) b.receive();
  test::settle();
  EXPECT_FALSE(b.line.read()) << "the cause follows the FIFO";
}

// The queue in closed form: a byte starts when its predecessor has gone, and waits in the FIFO until it starts.
TEST(uart, random_writes_arrive_or_are_dropped_as_the_closed_form_says) {
  const std::uint32_t seed = 115200;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  bench b;
  b.control(txen, 0);
  std::vector<moment> expected;
  std::uint64_t dropped = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 3 == 0) b.run_ps(random() % 8 == 0 ? 30 * character_ps : random() % (4 * character_ps));
    const std::uint64_t now = sc_core::sc_time_stamp().value();
    const auto waiting = static_cast<std::size_t>(
        std::count_if(expected.end() - std::min<std::ptrdiff_t>(20, std::ssize(expected)), expected.end(),
                      [&](const moment& item) { return item.time_ps - character_ps > now; }));
    EXPECT_EQ(b.full(), waiting == 8) << "step " << step;
    const auto byte = static_cast<std::uint8_t>(random());
    b.send(byte);
    if (waiting == 8) {
      ++dropped;
    } else {
      const std::uint64_t free = expected.empty() ? 0 : expected.back().time_ps;
      expected.push_back({std::max(now, free) + character_ps, byte});
    }
  }
  b.run_ps(10 * character_ps);
  EXPECT_EQ(b.far_end.put_bytes, expected);
  EXPECT_EQ(b.count("bytes_dropped"), dropped);
  EXPECT_GT(dropped, 1000U);
}

TEST(uart, the_end_of_the_simulation_drains_what_is_on_its_way) {
  bench b;
  b.control(txen, 0);
  for (std::uint8_t i = 0; i < 5; ++i) b.send(i);
  b.run_ps(1000);
  sc_core::sc_stop();
  std::vector<moment> expected;
  for (std::uint8_t i = 0; i < 5; ++i) expected.push_back({1000, i});
  EXPECT_EQ(b.far_end.put_bytes, expected);
  EXPECT_EQ(b.count("bytes_sent"), 5U);
}

TEST(uart, goes_on_after_draining) {
  bench b;
  b.control(txen, 0);
  b.send(1);
  b.send(2);
  b.run_ps(1000);
  b.port.drain();
  b.run_ps(1000);
  b.send(3);
  b.run_ps(3 * character_ps);
  EXPECT_EQ(b.far_end.put_bytes, (std::vector<moment>{{1000, 1}, {1000, 2}, {2000 + character_ps, 3}}));
}

TEST(uart, the_divisor_is_the_nearest) {
  bench b({100'000'000, 921'600});  // 108.507 clocks
  EXPECT_EQ(b.registers.read(reg::div::offset), 108U);
}

TEST(uart, what_was_never_to_be_sent_is_not_drained) {
  bench b;
  b.send(1);
  b.port.drain();
  EXPECT_TRUE(b.far_end.put_bytes.empty());
}

std::string refusal(const uart_config& config) {
  scripted_console far_end;
  core::statistics figures;
  try {
    uart port("uart", config, far_end, figures);
  } catch (const sc_core::sc_report& report) {
    return report.get_msg();
  }
  return {};
}

TEST(uart, bit_rates_that_no_divisor_gives_are_fatal) {
  test::throw_on_fatal();
  EXPECT_EQ(refusal({100'000'000, 100}),
            "uart: 100 bits per second cannot be divided from 100000000 Hz, use 1526 to 100000000");
}
TEST(uart, a_bit_rate_above_the_clock_is_fatal) {
  test::throw_on_fatal();
  EXPECT_EQ(refusal({1000, 1001}), "uart: 1001 bits per second cannot be divided from 1000 Hz, use 1 to 1000");
}
TEST(uart, a_clock_of_zero_is_fatal) {
  test::throw_on_fatal();
  EXPECT_EQ(refusal({0, 1}), "uart: an input clock of 0 Hz");
}

TEST(uart, the_fastest_and_the_slowest_rate) {
  bench b({1'000'000, 16});
  EXPECT_EQ(b.registers.read(reg::div::offset), 62'499U);
  b.control(txen, 0);
  b.send(1);
  b.run_ps(625'000'000'000);
  b.registers.write(reg::div::offset, 0);
  b.send(2);
  b.run_ps(10'000'000);
  EXPECT_EQ(b.far_end.put_bytes, (std::vector<moment>{{625'000'000'000, 1}, {625'010'000'000, 2}}));
}

}  // namespace
}  // namespace dvp::uart
