// What the consoles do with a real other side: files, a terminal, a client that comes, goes and comes back.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "testbenches/lib/scratch_file.h"
#include "tlm/uart/console_file.h"
#include "tlm/uart/console_none.h"
#include "tlm/uart/console_pty.h"
#include "tlm/uart/console_stdio.h"
#include "tlm/uart/console_tcp.h"
#include "tlm/uart/open_console.h"

namespace dvp::uart {
namespace {

void put(console& to, const std::string& text) {
  for (const char c : text) to.put(static_cast<std::uint8_t>(c));
}

// What the console has within two seconds, up to so many bytes.
std::string take(console& from, std::size_t count) {
  std::string text;
  for (int tries = 0; text.size() < count && tries < 2000; ++tries) {
    if (const auto byte = from.poll()) {
      text += static_cast<char>(*byte);
    } else {
      ::usleep(1000);
    }
  }
  return text;
}

// The other side: a descriptor that is read for at most two seconds while the console gets its turns.
std::string read_all(int number, std::size_t count, console& turns) {
  std::string text;
  for (int tries = 0; text.size() < count && tries < 2000; ++tries) {
    turns.poll();
    char piece[4096];
    pollfd input{number, POLLIN, 0};
    if (::poll(&input, 1, 1) <= 0) continue;
    const ssize_t got = ::read(number, piece, sizeof piece);
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

void write_all(int number, const std::string& text) {
  ASSERT_EQ(::write(number, text.data(), text.size()), std::ssize(text));
}

descriptor client_of(const console_tcp& server) {
  descriptor client(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(server.port());
  EXPECT_EQ(::connect(client.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return client;
}

const std::string every_byte = [] {
  std::string text;
  for (int i = 0; i < 256; ++i) text += static_cast<char>(i);
  return text;
}();

TEST(console_file, output_and_input_are_the_bytes_of_the_files) {
  const test::scratch_file out("uart_out");
  const test::scratch_file in("uart_in");
  { std::ofstream(in.path(), std::ios::binary) << every_byte; }
  {
    console_file console(out.path(), in.path());
    put(console, every_byte);
    EXPECT_TRUE(console.may_send());
    EXPECT_EQ(take(console, 256), every_byte);
    EXPECT_FALSE(console.may_send());
    EXPECT_EQ(console.poll(), std::nullopt);
  }
  EXPECT_EQ(out.text(), every_byte);
  console_file silent(out.path());
  EXPECT_FALSE(silent.may_send());
}

TEST(console_file, a_missing_input_leaves_the_output_alone) {
  const test::scratch_file out("uart_out");
  { std::ofstream(out.path()) << "kept"; }
  EXPECT_THROW(console_file(out.path(), out.path() + ".missing"), std::runtime_error);
  EXPECT_EQ(out.text(), "kept");
}

TEST(console_file, lost_output_is_told_at_the_end) {
  console_file full("/dev/full");
  EXPECT_EQ(full.failure(), "");
  put(full, every_byte);
  EXPECT_EQ(full.failure(), "/dev/full: could not be written whole; is the disk full?");
  EXPECT_NE(full.failure(), "") << "forgotten";
  console_file early("/dev/full");
  put(early, std::string(1 << 20, 'x'));  // fails long before the end
  EXPECT_NE(early.failure(), "");
  const test::scratch_file out("uart_out");
  console_file whole(out.path());
  put(whole, every_byte);
  EXPECT_EQ(whole.failure(), "");
}

TEST(console_none, nobody) {
  console_none nobody;
  nobody.put(1);
  EXPECT_FALSE(nobody.may_send());
  EXPECT_EQ(nobody.poll(), std::nullopt);
}

TEST(console_stdio, reads_until_the_end_of_standard_input) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int saved = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  console_stdio console;
  EXPECT_EQ(console.poll(), std::nullopt);
  EXPECT_TRUE(console.may_send());
  write_all(ends[1], "ab");
  ::close(ends[1]);
  EXPECT_EQ(take(console, 2), "ab");
  EXPECT_EQ(console.poll(), std::nullopt);
  EXPECT_FALSE(console.may_send());
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ::close(ends[0]);
}

TEST(console_stdio, writes_to_standard_output) {
  testing::internal::CaptureStdout();
  console_stdio console;
  put(console, "hello\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "hello\n");
}

TEST(console_pty, passes_every_byte_both_ways_as_it_is) {
  console_pty console;
  put(console, "early ");
  const descriptor terminal(::open(console.path().c_str(), O_RDWR | O_NOCTTY));
  ASSERT_TRUE(terminal.is_open());
  put(console, every_byte);
  EXPECT_EQ(read_all(terminal.get(), 262, console), "early " + every_byte);
  write_all(terminal.get(), every_byte);
  EXPECT_EQ(take(console, 256), every_byte);
}

TEST(console_pty, a_terminal_that_nobody_reads_does_not_stop_the_run) {
  console_pty console;
  put(console, std::string(300'000, 'x'));
  EXPECT_EQ(console.poll(), std::nullopt);
}

TEST(console_pty, the_end_waits_for_a_reader_that_comes_late) {
  std::string text;
  std::thread reader;
  {
    console_pty console(std::chrono::seconds(30));  // the reader may be late indeed on a busy machine
    put(console, "last words");
    reader = std::thread([&text, path = console.path()] {
      ::usleep(200'000);
      const descriptor terminal(::open(path.c_str(), O_RDWR | O_NOCTTY));
      console_none turns;
      text = read_all(terminal.get(), 10, turns);
    });
  }
  reader.join();
  EXPECT_EQ(text, "last words");
}

TEST(console_tcp, output_waits_for_the_client_and_input_comes_from_it) {
  console_tcp server(0);
  put(server, "before ");
  const descriptor client = client_of(server);
  put(server, every_byte);
  EXPECT_EQ(read_all(client.get(), 263, server), "before " + every_byte);
  write_all(client.get(), every_byte);
  EXPECT_EQ(take(server, 256), every_byte);
}

TEST(console_tcp, a_second_client_is_turned_away_and_a_later_one_welcome) {
  console_tcp server(0);
  descriptor first = client_of(server);
  put(server, "1");
  EXPECT_EQ(read_all(first.get(), 1, server), "1");
  const descriptor second = client_of(server);
  EXPECT_EQ(read_all(second.get(), 1, server), "") << "not closed";
  put(server, "2");
  EXPECT_EQ(read_all(first.get(), 1, server), "2") << "the first lost its line";
  first.reset();
  EXPECT_EQ(take(server, 1), "");  // notices that it is gone
  put(server, "3");
  const descriptor third = client_of(server);
  EXPECT_EQ(read_all(third.get(), 1, server), "3");
}

TEST(console_tcp, waiting_output_is_bounded_and_loses_its_oldest) {
  console_tcp server(0);
  const std::size_t most = waiting_output::most_waiting;
  put(server, std::string(1000, 'a') + std::string(most - 1, 'b') + "c");
  EXPECT_EQ(server.dropped(), 1000U);
  const descriptor client = client_of(server);
  EXPECT_EQ(read_all(client.get(), most, server), std::string(most - 1, 'b') + "c");
}

TEST(console_tcp, the_end_gives_the_client_what_waits) {
  descriptor client;
  {
    console_tcp server(0);
    client = client_of(server);
    put(server, "last words");
  }
  console_none turns;
  EXPECT_EQ(read_all(client.get(), 100, turns), "last words");
}

TEST(console_tcp, a_client_that_vanishes_ends_nothing) {
  console_tcp server(0);
  {
    const descriptor client = client_of(server);
    put(server, "x");
    const linger at_once{1, 0};  // reset instead of an orderly end
    ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  }
  put(server, std::string(100'000, 'y'));
  const descriptor next = client_of(server);
  put(server, "z");
  EXPECT_EQ(read_all(next.get(), waiting_output::most_waiting, server).back(), 'z');
}

TEST(open_console, knows_every_name) {
  std::ostringstream told;
  EXPECT_NE(dynamic_cast<console_none*>(open_console("none", told).get()), nullptr);
  EXPECT_NE(dynamic_cast<console_stdio*>(open_console("stdio", told).get()), nullptr);
  EXPECT_EQ(told.str(), "");
  EXPECT_NE(dynamic_cast<console_pty*>(open_console("pty", told).get()), nullptr);
  EXPECT_EQ(told.str().rfind("uart: /dev/", 0), 0U) << told.str();
  told.str("");
  const auto tcp = open_console("tcp:0", told);
  EXPECT_EQ(told.str(), "uart: 127.0.0.1:" + std::to_string(dynamic_cast<console_tcp&>(*tcp).port()) + "\n");
  const test::scratch_file out("uart_out");
  EXPECT_NE(dynamic_cast<console_file*>(open_console(out.path(), told).get()), nullptr);
}

std::string refusal(const std::string& what) {
  std::ostringstream told;
  try {
    open_console(what, told);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return {};
}

TEST(open_console, says_what_cannot_be_had) {
  EXPECT_EQ(refusal("tcp:"), "tcp:: '' is no port; write tcp: and 0 to 65535");
  EXPECT_EQ(refusal("tcp:65536"), "tcp:65536: '65536' is no port; write tcp: and 0 to 65535");
  EXPECT_EQ(refusal("tcp:12x"), "tcp:12x: '12x' is no port; write tcp: and 0 to 65535");
  EXPECT_EQ(refusal("/nowhere/at/all"), "/nowhere/at/all: No such file or directory");
  EXPECT_EQ(refusal(""), "no console is named; use stdio, none, pty, tcp:PORT or a file");
  const console_tcp taken(0);
  const std::string name = "tcp:" + std::to_string(taken.port());
  EXPECT_EQ(refusal(name), name + ": Address already in use");
}

}  // namespace
}  // namespace dvp::uart
