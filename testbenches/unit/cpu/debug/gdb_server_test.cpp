// The server between a scripted client, or a real GDB, and the fake machine, which runs in a thread of its own.
#include "tlm/cpu/debug/gdb_server.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>

#include "testbenches/unit/cpu/debug/fake_machine.h"
#include "testbenches/unit/cpu/debug/scripted_client.h"

namespace dvp::cpu::debug {
namespace {

constexpr std::uint64_t for_ever = ~std::uint64_t{0};

// The machine under the server; ends with the test at the latest.
class session {
 public:
  explicit session(std::uint64_t instructions = for_ever, std::uint32_t harts = 2)
      : machine(harts),
        server(machine, 0),
        thread_([this, instructions] { ended = machine.run(server, instructions); }) {}
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() {
    if (thread_.joinable()) kill();
  }

  std::uint16_t port() const { return server.port(); }
  void wait() { thread_.join(); }
  void kill() {
    scripted_client(server.port()).send(framed("k"));
    wait();
  }

  fake_machine machine;
  gdb_server server;
  resume_action ended = resume_action::detach;

 private:
  std::thread thread_;
};

TEST(gdb_server, waits_for_the_first_debugger) {
  session s(1000);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(s.machine.executed, 0U);
  scripted_client client(s.port());
  EXPECT_EQ(client.ask("?").substr(0, 19), "T05thread:1;core:0;");
  EXPECT_EQ(client.ask("p20"), "0000008000000000");
  client.tell("c");
  EXPECT_EQ(client.stop(), "packet W07");
  s.wait();
  EXPECT_EQ(s.ended, resume_action::run);
  EXPECT_EQ(s.machine.executed, 1000U);
  EXPECT_EQ(client.byte(), -1);
}

TEST(gdb_server, breakpoints_steps_and_watchpoints) {
  session s;
  scripted_client client(s.port());
  client.ask("qSupported:swbreak+");
  EXPECT_EQ(client.ask("Z0,80000020,4"), "OK");
  client.tell("vCont;c");
  EXPECT_EQ(client.stop().substr(0, 36), "packet T05swbreak:;thread:1;core:0;0");
  EXPECT_EQ(client.ask("p20"), "2000008000000000");
  EXPECT_EQ(client.ask("p5"), "0800000000000000");
  client.tell("vCont;s:2");
  EXPECT_EQ(client.stop().substr(0, 36), "packet T05thread:2;core:1;02:0000000");  // 0x20 + 4
  client.tell("vCont;r80000020,80000030:1;c");
  EXPECT_EQ(client.stop().substr(0, 26), "packet T05thread:1;core:0;");
  EXPECT_EQ(client.ask("p20"), "3000008000000000");
  EXPECT_EQ(client.ask("z0,80000020,4"), "OK");
  EXPECT_EQ(client.ask("Z2,80000800,8"), "OK");
  client.tell("c");
  EXPECT_EQ(client.stop().substr(0, 43),
            "packet T05watch:80000800;thread:1;core:0;02");  // from 0x30 on, the other from 0x24
  EXPECT_EQ(client.ask("m80000800,8"), "4000008000000000");
}

TEST(gdb_server, interrupt) {
  session s;
  scripted_client client(s.port());
  for (int i = 0; i < 5; ++i) {
    client.tell("c");
    const std::uint64_t before = s.machine.executed;
    while (s.machine.executed == before) std::this_thread::yield();
    client.send("\x03");
    EXPECT_EQ(client.stop().substr(0, 10), "packet T02");
  }
  // One that comes with the resumption, and one that nobody needs.
  client.send("\x03" + framed("c") + "\x03");
  EXPECT_EQ(client.answer().substr(0, 11), "+packet T02");
  client.send("+\x03" + framed("c"));
  EXPECT_EQ(client.byte(), '+');
  EXPECT_EQ(client.byte(50), -2);
  client.send("\x03");
  EXPECT_EQ(client.stop().substr(0, 10), "packet T02");
  // A hart that runs alone, by steps, and a range that never ends can be interrupted too.
  for (const char* alone : {"vCont;c:2", "vCont;r80000000,90000000:1;c"}) {
    client.tell(alone);
    client.send("\x03");
    EXPECT_EQ(client.stop().substr(0, 10), "packet T02") << alone;
  }
}

TEST(gdb_server, detach_and_attach_again) {
  session s;
  for (int i = 0; i < 3; ++i) {
    scripted_client client(s.port());
    EXPECT_EQ(client.ask("?").substr(0, 3), "T05");
    const std::uint64_t stands = s.machine.executed;
    EXPECT_EQ(client.ask("Z0,80000200,4"), "OK");
    EXPECT_EQ(client.ask("Z3,80000800,4"), "OK");
    EXPECT_EQ(s.machine.executed, stands);
    EXPECT_EQ(client.ask("D"), "OK");
    EXPECT_EQ(client.byte(), -1);
    while (s.machine.executed < stands + 10'000) std::this_thread::yield();  // past the breakpoint
  }
  scripted_client client(s.port());
  client.ask("?");
  EXPECT_FALSE(s.machine.has_points());
}

TEST(gdb_server, a_broken_connection_is_a_detach) {
  session s;
  {
    scripted_client client(s.port());
    client.ask("Z0,80000200,4");
  }
  while (s.machine.executed < 10'000) std::this_thread::yield();
  {
    scripted_client client(s.port());
    client.ask("Z4,80000900,4");
    client.tell("c");
  }
  scripted_client client(s.port());
  EXPECT_EQ(client.ask("?").substr(0, 3), "T05");
  EXPECT_FALSE(s.machine.has_points());
  client.tell("k");
  s.wait();
  EXPECT_EQ(s.ended, resume_action::kill);
}

TEST(gdb_server, kill_and_hang_up_at_once) {
  session s;
  {
    scripted_client client(s.port());
    client.send("+" + framed("k"));
  }
  s.wait();
  EXPECT_EQ(s.ended, resume_action::kill);
  EXPECT_EQ(s.machine.executed, 0U);
}

TEST(gdb_server, one_debugger_at_a_time) {
  session s;
  scripted_client client(s.port());
  EXPECT_EQ(client.ask("T1"), "OK");
  scripted_client second(s.port());
  EXPECT_EQ(second.byte(), -1);
  client.tell("c");
  scripted_client third(s.port());
  EXPECT_EQ(third.byte(), -1);
  client.send("\x03");
  EXPECT_EQ(client.stop().substr(0, 10), "packet T02");
}

TEST(gdb_server, a_peer_that_is_no_debugger_stops_nothing) {
  session s;
  {
    scripted_client client(s.port());
    EXPECT_EQ(client.ask("D"), "OK");
  }
  scripted_client browser(s.port());
  browser.send("POST / HTTP/1.1\r\n\r\n$k#6b");
  EXPECT_EQ(browser.byte(), -1);
  scripted_client silent(s.port());
  const std::uint64_t before = s.machine.executed;
  while (s.machine.executed < before + 10'000) std::this_thread::yield();
  scripted_client client(s.port());  // the silent one makes room
  EXPECT_EQ(client.ask("?").substr(0, 3), "T05");
  client.tell("c");
  for (int i = 0; i < 100; ++i) client.send(framed("?"));  // no debugger sends that while the target runs
  int last = 0;
  while (last >= 0) last = client.byte();
  EXPECT_EQ(last, -1);
}

TEST(gdb_server, acknowledgements) {
  session s;
  scripted_client client(s.port());
  client.send("$qC#b5");
  EXPECT_EQ(client.byte(), '-');
  client.send("$qC#b4");
  EXPECT_EQ(client.answer(), "+packet QC1");
  client.send("-");
  EXPECT_EQ(client.answer(), "packet QC1");
  client.send("+" + framed(std::string(packet_bytes + 1, 'm')));
  EXPECT_EQ(client.answer(), "+packet E07");
  client.send("+");
  client.be_quiet();
  EXPECT_EQ(client.ask("qC"), "QC1");
  client.send("$qC#b5" + framed("T2"));
  EXPECT_EQ(client.answer(), "packet OK");
}

TEST(gdb_server, survives_random_bytes) {
  constexpr unsigned seed = 31337;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  session s;
  const std::vector<std::string> pieces = {
      framed("g"), framed("c"), framed("vCont;s:2"), framed("D"), "\x03", framed("Hg2"), framed("m80000000,10"), "$#00",
      "+",         "-"};
  for (int i = 0; i < 100; ++i) {
    scripted_client client(s.port());
    std::string bytes = "+";
    for (auto n = random() % 60; n > 0; --n) {
      if (random() % 2 == 0) {
        bytes += pieces[random() % pieces.size()];
      } else {
        const char c = static_cast<char>(random());
        if (c != 'k') bytes += c;  // kill would be obeyed
      }
    }
    client.send(bytes);
    if (random() % 2 == 0) client.byte(1);
  }
  for (int tries = 0;; ++tries) {
    ASSERT_LT(tries, 100);
    scripted_client client(s.port());
    if (client.ask("qC").starts_with("QC")) break;
  }
}

TEST(gdb_server, says_why_a_port_cannot_be_had) {
  fake_machine machine;
  gdb_server first(machine, 0);
  try {
    gdb_server second(machine, first.port());
    FAIL() << "port " << first.port() << " was given twice";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("port " + std::to_string(first.port())), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("choose another"), std::string::npos);
  }
}

// What gdb-multiarch prints for these commands, on a machine of two harts.
std::string gdb(std::uint16_t port, const std::vector<std::string>& script) {
  std::string line = "timeout 40 gdb-multiarch -nx -batch -ex 'set architecture riscv:rv64' -ex 'target remote :" +
                     std::to_string(port) + "'";
  for (const std::string& command : script) line += " -ex '" + command + "'";
  std::string output;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen((line + " 2>&1").c_str(), "r"), pclose);
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) output += static_cast<char>(c);
  return output;
}

TEST(gdb_server, real_gdb) {
  if (std::system("gdb-multiarch --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "gdb-multiarch is not installed";
  session s;
  const std::string said = gdb(s.port(), {"break *0x80000020",
                                          "continue",
                                          "print/x $pc",
                                          "print $t0",
                                          "stepi",
                                          "print/x $pc",
                                          "info threads",
                                          "print/x $mstatus",
                                          "print/x $mhartid",
                                          "set var $a0 = 0x1234",
                                          "print/x $a0",
                                          "print/x $f8",
                                          "set var *(unsigned long*)0x80000900 = 0x5566",
                                          "x/1gx 0x80000900",
                                          "delete",
                                          "watch *(unsigned long*)0x80000800",
                                          "continue",
                                          "x/1gx 0x80000800",
                                          "thread 2",
                                          "print/x $mhartid",
                                          "x/1i $pc",
                                          "monitor hello",
                                          "delete",
                                          "detach"});
  std::size_t at = 0;
  for (const char* expected :
       {"Breakpoint 1, 0x0000000080000020", "$1 = 0x80000020", "$2 = 8", "$3 = 0x80000024", "hart 0 <fake> & co",
        "hart 1 <fake> & co", "$4 = 0x1800", "$5 = 0x0", "$6 = 0x1234", "0x80000900:\t0x0000000000005566",
        "hit Hardware watchpoint 2", "New value = 2147483712", "0x80000800:\t0x0000000080000040",
        "Switching to thread 2", "= 0x1\n", "nop", "good day", "detached"}) {
    const std::size_t found = said.find(expected, at);
    ASSERT_NE(found, std::string::npos) << "not there in this order: " << expected << "\n" << said;
    at = found;
  }
  const std::uint64_t before = s.machine.executed;
  while (s.machine.executed < before + 10'000) std::this_thread::yield();
  EXPECT_NE(gdb(s.port(), {"kill"}).find("killed"), std::string::npos);
  s.wait();
  EXPECT_EQ(s.ended, resume_action::kill);
}

}  // namespace
}  // namespace dvp::cpu::debug
