// Every command by packet and answer; the answers follow the GDB manual, appendix "Remote Serial Protocol".
#include "tlm/cpu/debug/protocol.h"

#include <gtest/gtest.h>

#include <random>

#include "testbenches/unit/cpu/debug/fake_machine.h"
#include "tlm/cpu/debug/packet.h"

namespace dvp::cpu::debug {
namespace {

class commands : public testing::Test {
 protected:
  commands() {
    machine.state[0].x[1] = 0x8000'0123;
    machine.state[1].x[1] = 0xffee'ddcc'bbaa'9988;
    machine.state[0].pc = fake_machine::base + 0x10;
    machine.state[0].f[31] = 0x4000'0000'0000'0000;
    debugger.stopped({stop_reason::interrupted, 0, 0}, false);
    debugger.connected();
  }

  // The one reply.
  std::string ask(const std::string& packet) {
    const outcome result = debugger.handle(packet);
    EXPECT_FALSE(result.released.has_value()) << packet;
    EXPECT_EQ(result.replies.size(), 1U) << packet;
    return result.replies.empty() ? "nothing" : result.replies.front();
  }
  // What a packet that lets the target run makes it do first.
  std::string go(const std::string& packet) {
    const outcome result = debugger.handle(packet);
    if (result.released != resume_action::run) return result.replies.empty() ? "nothing" : result.replies.front();
    EXPECT_TRUE(result.replies.empty()) << packet;
    const resume first = debugger.plan().first();
    return first.action == resume_action::run ? "run" : "step " + std::to_string(first.hart);
  }
  // Goes on with the plan from a step that ended at pc.
  std::string then(std::uint32_t hart, std::uint64_t pc) {
    machine.state[hart].pc = pc;
    stop why{stop_reason::stepped, hart, 0};
    const auto next = debugger.plan().next(why, machine, debugger.points());
    if (next) return "step " + std::to_string(next->hart);
    return why.reason == stop_reason::breakpoint ? "breakpoint" : "stepped";
  }

  fake_machine machine;
  protocol debugger{machine, {{0x8000'0000, 0x1000, true}, {0x1000, 0x1000, false}}};
};

TEST_F(commands, registers) {
  const std::string zero(16, '0');
  const std::string all = ask("g");
  ASSERT_EQ(all.size(), 65U * 16);
  EXPECT_EQ(all.substr(0, 48), zero + "2301008000000000" + zero);
  EXPECT_EQ(all.substr(32 * 16, 16), "1000008000000000");
  EXPECT_EQ(all.substr(64 * 16, 16), "0000000000000040");
  EXPECT_EQ(ask("p1"), "2301008000000000");
  EXPECT_EQ(ask("p20"), "1000008000000000");
  EXPECT_EQ(ask("p341"), "0018000000000000");  // 65 + 0x300: mstatus
  EXPECT_EQ(ask("p342"), "E0e");
  EXPECT_EQ(ask("pffffffffffffffff"), "E0e");
  EXPECT_EQ(ask("P5=efcdab8967452301"), "OK");
  EXPECT_EQ(machine.state[0].x[5], 0x0123'4567'89ab'cdef);
  EXPECT_EQ(ask("P0=0100000000000000"), "E0e");
  EXPECT_EQ(ask("Pf55=0100000000000000"), "E0e");  // mhartid
  for (const char* bad : {"p", "pxyz", "p1x", "P", "P5", "P5=", "P5=00", "P5=000000000000000g", "P5=00000000000000000",
                          "p11111111111111111"}) {
    EXPECT_EQ(ask(bad), "E16") << bad;
  }
}

TEST_F(commands, all_registers_written) {
  const std::string before = ask("g");
  std::string changed = before;
  changed.replace(3 * 16, 16, "efcdab8967452301");
  EXPECT_EQ(ask("G" + changed), "OK");  // x0 is in it
  EXPECT_EQ(machine.state[0].x[3], 0x0123'4567'89ab'cdef);
  EXPECT_EQ(ask("g"), changed);
  EXPECT_EQ(ask("G" + before.substr(0, 33 * 16)), "OK");
  EXPECT_EQ(machine.state[0].x[3], 0U);
  for (const std::string& bad : {std::string(), before.substr(1), before + before, before.substr(0, 15) + "x"}) {
    EXPECT_EQ(ask("G" + bad), "E16");
  }
  EXPECT_EQ(ask("g"), before);
}

TEST_F(commands, memory) {
  EXPECT_EQ(ask("m80000000,4"), "13000000");
  EXPECT_EQ(ask("M80000100,3:010aff"), "OK");
  EXPECT_EQ(ask("m800000ff,5"), "00010aff00");
  EXPECT_EQ(ask("X80000100,4:" + std::string("}#$\x00", 4)), "OK");
  EXPECT_EQ(ask("m80000100,4"), "7d232400");
  EXPECT_EQ(ask("X80000100,0:"), "OK");
  EXPECT_EQ(ask("m80000100,0"), "");
  EXPECT_EQ(ask("m80000ffe,10"), "0000");  // up to the end of memory
  EXPECT_EQ(ask("m80001000,1"), "E0e");
  EXPECT_EQ(ask("mffffffffffffffff,ffffffffffffffff"), "E0e");
  EXPECT_EQ(ask("m80000000,ffffffffffffffff").size(), 2U * fake_machine::memory_bytes);
  EXPECT_EQ(ask("M80000fff,2:0102"), "E0e");
  EXPECT_EQ(ask("Mffffffffffffffff,2:0102"), "E0e");
  EXPECT_FALSE(machine.asked_beyond_the_end);
  for (const char* bad :
       {"m", "m80000000", "m80000000,", "m,4", "m80000000,4x", "m80000000;4", "M80000000,2:01", "M80000000,1:0102",
        "M80000000,1:0", "M80000000,1:zz", "M80000000,1", "X80000000,2:a", "X80000000,2", "m123456789abcdef01,1"}) {
    EXPECT_EQ(ask(bad), "E16") << bad;
  }
}

TEST_F(commands, threads) {
  EXPECT_EQ(ask("qfThreadInfo"), "m1,2");
  EXPECT_EQ(ask("qsThreadInfo"), "l");
  EXPECT_EQ(ask("qC"), "QC1");
  EXPECT_EQ(ask("T2"), "OK");
  EXPECT_EQ(ask("T3"), "E03");
  EXPECT_EQ(ask("T0"), "E03");
  EXPECT_EQ(ask("Hg2"), "OK");
  EXPECT_EQ(ask("p1"), "8899aabbccddeeff");
  EXPECT_EQ(ask("Hg0"), "OK");
  EXPECT_EQ(ask("p1"), "2301008000000000");
  EXPECT_EQ(ask("Hg3"), "E03");
  EXPECT_EQ(ask("Hg-1"), "OK");
  EXPECT_EQ(ask("Hcp1.1"), "E03");
  EXPECT_EQ(ask("H"), "E16");
  EXPECT_EQ(ask("qThreadExtraInfo,2"), "686172742031203c66616b653e202620636f");  // "hart 1 <fake> & co"
  EXPECT_EQ(ask("qThreadExtraInfo,9"), "E03");
  EXPECT_EQ(ask("qXfer:threads:read::0,1000"),
            "l<?xml version=\"1.0\"?>\n<threads>\n"
            "  <thread id=\"1\" core=\"0\" name=\"hart 0\">hart 0 &lt;fake&gt; &amp; co</thread>\n"
            "  <thread id=\"2\" core=\"1\" name=\"hart 1\">hart 1 &lt;fake&gt; &amp; co</thread>\n</threads>\n");
}

TEST_F(commands, stops) {
  const std::string place = "thread:1;core:0;02:0000000000000000;08:0000000000000000;20:1000008000000000;";
  EXPECT_EQ(ask("?"), "T05" + place);
  const auto after = [&](stop_reason reason, bool asked) {
    debugger.stopped({reason, 0, fake_machine::mailbox + 4}, asked);
    return ask("?");
  };
  EXPECT_EQ(after(stop_reason::interrupted, true), "T02" + place);
  EXPECT_EQ(after(stop_reason::stepped, false), "T05" + place);
  EXPECT_EQ(after(stop_reason::fault, false), "T0b" + place);
  ask("Z0,80000010,2");
  EXPECT_EQ(after(stop_reason::breakpoint, false), "T05" + place);  // the client never said swbreak
  ask("qSupported:multiprocess+;swbreak+;hwbreak+");
  EXPECT_EQ(after(stop_reason::breakpoint, false), "T05swbreak:;" + place);
  ask("Z1,80000010,2");
  EXPECT_EQ(after(stop_reason::breakpoint, false), "T05hwbreak:;" + place);
  ask("z0,80000010,2");
  ask("z1,80000010,2");
  EXPECT_EQ(after(stop_reason::breakpoint, false), "T05" + place);  // not one of ours
  EXPECT_EQ(after(stop_reason::watchpoint, false), "T05awatch:80000804;" + place);
  ask("Z2,80000800,8");
  EXPECT_EQ(after(stop_reason::watchpoint, false), "T05watch:80000804;" + place);
  ask("z2,80000800,8");
  ask("Z3,80000800,8");
  EXPECT_EQ(after(stop_reason::watchpoint, false), "T05rwatch:80000804;" + place);
  EXPECT_EQ(after(stop_reason::exited, false), "W07");
  debugger.stopped({stop_reason::stepped, 1, 0}, false);
  EXPECT_EQ(ask("?").substr(0, 19), "T05thread:2;core:1;");
  EXPECT_EQ(ask("p1"), "8899aabbccddeeff");  // the one that stopped is looked at
}

TEST_F(commands, points) {
  EXPECT_EQ(ask("Z0,80000010,4"), "OK");
  EXPECT_EQ(ask("Z0,80000010,2"), "OK");
  EXPECT_EQ(ask("Z1,80000010,4"), "OK");
  EXPECT_EQ(machine.breakpoints, (std::set<std::uint64_t>{0x8000'0010}));
  EXPECT_EQ(ask("z0,80000010,4"), "OK");
  EXPECT_EQ(machine.breakpoints.size(), 1U);  // the other kind holds it
  EXPECT_EQ(ask("z1,80000010,4"), "OK");
  EXPECT_TRUE(machine.breakpoints.empty());
  EXPECT_EQ(ask("z1,80000010,4"), "OK");
  EXPECT_EQ(ask("Z2,80000800,8"), "OK");
  EXPECT_EQ(ask("Z3,80000800,4"), "OK");
  EXPECT_EQ(ask("Z4,80000808,1"), "OK");
  using ranges = std::set<fake_machine::range>;
  EXPECT_EQ(machine.watchpoints[watch::write], (ranges{{0x8000'0800, 8}}));
  EXPECT_EQ(machine.watchpoints[watch::read], (ranges{{0x8000'0800, 4}}));
  EXPECT_EQ(machine.watchpoints[watch::access], (ranges{{0x8000'0808, 1}}));
  EXPECT_EQ(ask("z2,80000800,8"), "OK");
  EXPECT_TRUE(machine.watchpoints[watch::write].empty());
  EXPECT_EQ(ask("Z5,80000800,8"), "");
  for (const char* bad : {"Z", "Z0", "Z0,", "Z0,80000000", "Z0,80000000,", "Z2,80000000,0", "Z2,ffffffffffffffff,2",
                          "Z0,80000000,4;X3,abc"}) {
    EXPECT_EQ(ask(bad), "E16") << bad;
  }
  EXPECT_TRUE(machine.has_points());
  debugger.disconnected();
  EXPECT_FALSE(machine.has_points());
}

TEST_F(commands, resumption) {
  EXPECT_EQ(go("c"), "run");
  EXPECT_EQ(go("C05"), "run");
  EXPECT_EQ(go("s"), "step 0");
  EXPECT_EQ(then(0, 0x8000'0014), "stepped");
  EXPECT_EQ(go("S05;80000100"), "step 0");
  EXPECT_EQ(machine.state[0].pc, 0x8000'0100U);
  EXPECT_EQ(go("c80000104"), "run");
  EXPECT_EQ(machine.state[0].pc, 0x8000'0104U);
  EXPECT_EQ(ask("Hc2"), "OK");
  EXPECT_EQ(go("s"), "step 1");
  EXPECT_EQ(go("c"), "step 1");  // this one alone
  EXPECT_EQ(then(1, 0x8000'0024), "step 1");
  EXPECT_EQ(ask("Hc-1"), "OK");
  EXPECT_EQ(go("c"), "run");
  for (const char* bad : {"cxyz", "c12345678123456789", "C", "C05x", "Szz", "s1,2"}) EXPECT_EQ(go(bad), "E16") << bad;
  EXPECT_EQ(debugger.handle("k").released, resume_action::kill);
  const outcome kill = debugger.handle("vKill;1");
  EXPECT_EQ(kill.replies, (std::vector<std::string>{"OK"}));
  EXPECT_EQ(kill.released, resume_action::kill);
  const outcome detach = debugger.handle("D");
  EXPECT_EQ(detach.replies, (std::vector<std::string>{"OK"}));
  EXPECT_EQ(detach.released, resume_action::detach);
}

TEST_F(commands, resumption_by_thread) {
  EXPECT_EQ(ask("vCont?"), "vCont;c;C;s;S;r");
  EXPECT_EQ(go("vCont;c"), "run");
  EXPECT_EQ(go("vCont;C05"), "run");
  EXPECT_EQ(go("vCont;c:-1"), "run");
  EXPECT_EQ(go("vCont;c:1;c:2"), "run");
  EXPECT_EQ(go("vCont;s:2;c"), "step 1");
  EXPECT_EQ(go("vCont;s:2;s:1"), "step 0");  // the one that stopped
  EXPECT_EQ(go("vCont;s"), "step 0");
  EXPECT_EQ(go("vCont;c:1;s:1;c"), "run");  // the leftmost counts
  EXPECT_EQ(go("vCont;S05:2"), "step 1");
  EXPECT_EQ(then(1, 0x8000'0014), "stepped");
  EXPECT_EQ(go("vCont;c:2"), "step 1");
  EXPECT_EQ(then(1, 0x8000'0014), "step 1");
  ask("Z0,80000018,4");
  EXPECT_EQ(then(1, 0x8000'0018), "breakpoint");
  EXPECT_EQ(go("vCont;r80000010,80000020:1;c"), "step 0");
  EXPECT_EQ(then(0, 0x8000'0014), "step 0");
  EXPECT_EQ(then(0, 0x8000'0018), "breakpoint");
  EXPECT_EQ(then(0, 0x8000'000c), "stepped");
  EXPECT_EQ(then(0, 0x8000'0020), "stepped");
  for (const char* bad : {"vCont", "vCont;", "vCont;x", "vCont;c:3", "vCont;c:p1.1", "vCont;c:", "vCont;r1:1",
                          "vCont;r1,", "vCont;C", "vCont;c1", "vCont;t", "vCont;c;;"}) {
    EXPECT_EQ(go(bad), "E16") << bad;
  }
}

TEST_F(commands, general_queries) {
  const std::string features =
      "PacketSize=4000;qXfer:features:read+;qXfer:threads:read+;QStartNoAckMode+;"
      "vContSupported+;swbreak+;hwbreak+;qXfer:memory-map:read+";
  EXPECT_EQ(ask("qSupported:xmlRegisters=i386;swbreak+"), features);
  EXPECT_EQ(ask("qSupported"), features);
  EXPECT_EQ(ask("qAttached"), "1");
  EXPECT_EQ(ask("qAttached:1"), "1");
  EXPECT_EQ(ask("qSymbol::"), "OK");
  EXPECT_EQ(ask("!"), "OK");
  const outcome quiet = debugger.handle("QStartNoAckMode");
  EXPECT_TRUE(quiet.no_acknowledgements);
  EXPECT_EQ(quiet.replies, (std::vector<std::string>{"OK"}));
  for (const char* unknown : {"", "vMustReplyEmpty", "qTStatus", "QNonStop:1", "vAttach;1", "vRun;", "bs", "R00",
                              "qOffsets", "qXfer:auxv:read::0,10", "qXfer:features:write:target.xml:0:x", "\x80\xff"}) {
    EXPECT_EQ(ask(unknown), "") << unknown;
  }
}

TEST_F(commands, monitor) {
  const outcome hello = debugger.handle("qRcmd,68656c6c6f");
  EXPECT_EQ(hello.replies, (std::vector<std::string>{"O676f6f64206461790a", "OK"}));
  const outcome unknown = debugger.handle("qRcmd,68");
  EXPECT_EQ(unknown.replies.size(), 2U);
  EXPECT_EQ(unknown.replies.front(), "O" + hex_text("monitor: unknown command 'h'\n"));
  const outcome longer = debugger.handle("qRcmd,6c6f6e67");
  std::string text;
  for (const std::string& reply : longer.replies) {
    EXPECT_LE(reply.size(), packet_bytes);
    if (reply.front() == 'O' && reply != "OK") text += reply.substr(1);
  }
  EXPECT_EQ(text, hex_text(std::string(20'000, 'x')));
  EXPECT_EQ(ask("qRcmd,6"), "E16");
  EXPECT_EQ(ask("qRcmd,6x"), "E16");
}

TEST_F(commands, descriptions) {
  std::string xml;
  std::string part;
  do {
    part = ask("qXfer:features:read:target.xml:" + hex_number(xml.size()) + ",7f");
    ASSERT_FALSE(part.empty());
    ASSERT_LE(part.size(), 0x80U);
    xml += part.substr(1);
  } while (part.front() == 'm');
  EXPECT_EQ(part.front(), 'l');
  for (const char* expected :
       {"<architecture>riscv:rv64</architecture>", "<reg name=\"zero\" bitsize=\"64\" type=\"int\" regnum=\"0\"/>",
        "<reg name=\"t6\" bitsize=\"64\" type=\"int\" regnum=\"31\"/>",
        "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\" regnum=\"32\"/>",
        "<reg name=\"fs0\" bitsize=\"64\" type=\"ieee_double\" regnum=\"41\"/>",
        "<reg name=\"ft11\" bitsize=\"64\" type=\"ieee_double\" regnum=\"64\"/>",
        "<reg name=\"mstatus\" bitsize=\"64\" type=\"int\" regnum=\"833\"/>",
        "<reg name=\"mhartid\" bitsize=\"64\" type=\"int\" regnum=\"3925\"/>"}) {
    EXPECT_NE(xml.find(expected), std::string::npos) << expected << "\n" << xml;
  }
  EXPECT_EQ(xml.find("mepc"), std::string::npos);  // the machine has none
  EXPECT_EQ(ask("qXfer:features:read:target.xml:" + hex_number(xml.size()) + ",10"), "l");
  EXPECT_EQ(ask("qXfer:features:read:target.xml:" + hex_number(xml.size() + 1) + ",10"), "E16");
  EXPECT_EQ(ask("qXfer:features:read:other.xml:0,10"), "E00");
  EXPECT_EQ(ask("qXfer:features:read:target.xml:0"), "E16");
  const std::string map = ask("qXfer:memory-map:read::0,1000");
  EXPECT_NE(map.find("<memory type=\"ram\" start=\"0x80000000\" length=\"0x1000\"/>"), std::string::npos) << map;
  EXPECT_NE(map.find("<memory type=\"rom\" start=\"0x1000\" length=\"0x1000\"/>"), std::string::npos) << map;
  protocol without_map(machine, {});
  EXPECT_EQ(without_map.handle("qXfer:memory-map:read::0,1000").replies.front(), "");
}

// Whatever comes, every packet has its answer or lets the target go, and all points can be taken back.
TEST_F(commands, survives_any_packet) {
  constexpr unsigned seed = 99;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  const std::vector<std::string> seeds = {"g",
                                          "G0011",
                                          "p1",
                                          "P5=efcdab8967452301",
                                          "m80000000,4",
                                          "M80000100,2:0102",
                                          "X80000100,2:ab",
                                          "Z0,80000010,4",
                                          "z0,80000010,4",
                                          "Z2,80000800,8",
                                          "vCont;s:1;c",
                                          "vCont;r80000010,80000020:1",
                                          "Hg2",
                                          "Hc-1",
                                          "T1",
                                          "qXfer:features:read:target.xml:0,ff",
                                          "qXfer:threads:read::0,ff",
                                          "qRcmd,68656c6c6f",
                                          "qSupported:swbreak+",
                                          "qThreadExtraInfo,1",
                                          "C05;80000000",
                                          "s80000000",
                                          "?",
                                          "D",
                                          "k",
                                          "vKill;1"};
  int errors = 0;
  int released = 0;
  for (int i = 0; i < 100'000; ++i) {
    std::string packet = seeds[random() % seeds.size()];
    for (auto n = random() % 4; n > 0; --n) {
      const std::size_t at = random() % (packet.size() + 1);
      constexpr char often[] = "0123456789abcdef,;:=-pZ";
      const char c = random() % 3 == 0 ? static_cast<char>(random()) : often[random() % (sizeof often - 1)];
      switch (random() % 4) {
        case 0:
          packet.insert(at, 1, c);
          break;
        case 1:
          packet.resize(at);
          break;
        case 2:
          packet.insert(at, std::string(random() % 20, 'f'));
          break;
        default:
          if (at < packet.size()) packet[at] = c;
      }
    }
    const outcome result = debugger.handle(packet);
    ASSERT_TRUE(result.released || !result.replies.empty()) << "packet " << i << ": " << packet;
    errors += !result.replies.empty() && result.replies.front().starts_with("E") ? 1 : 0;
    released += result.released ? 1 : 0;
    for (const std::string& reply : result.replies) ASSERT_LE(reply.size(), packet_bytes);
  }
  std::printf("%d errors, %d releases\n", errors, released);
  EXPECT_GT(errors, 10'000);
  EXPECT_GT(released, 5'000);
  debugger.disconnected();
  EXPECT_FALSE(machine.has_points());
}

}  // namespace
}  // namespace dvp::cpu::debug
