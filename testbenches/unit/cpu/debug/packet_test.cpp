// Packets as bytes. Checksums were added up by hand or are those of the GDB manual's examples.
#include "tlm/cpu/debug/packet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace dvp::cpu::debug {
namespace {

using event = packet_reader::event;
using namespace std::string_literals;

// What a reader makes of the bytes; `none` is left out, packets are spelled out.
std::vector<std::string> read(const std::string& bytes) {
  packet_reader reader;
  std::vector<std::string> seen;
  for (const char c : bytes) {
    switch (reader.take(static_cast<std::uint8_t>(c))) {
      case event::none:
        break;
      case event::packet:
        seen.push_back("packet " + reader.data());
        break;
      case event::damaged:
        seen.emplace_back("damaged");
        break;
      case event::too_long:
        seen.emplace_back("too long");
        break;
      case event::positive:
        seen.emplace_back("+");
        break;
      case event::negative:
        seen.emplace_back("-");
        break;
      case event::interrupt:
        seen.emplace_back("interrupt");
        break;
    }
  }
  return seen;
}

using events = std::vector<std::string>;

TEST(packet, frames) {
  EXPECT_EQ(framed(""), "$#00");
  EXPECT_EQ(framed("OK"), "$OK#9a");
  EXPECT_EQ(framed("qC"), "$qC#b4");
  // 0x7d + 3, 0x7d + 4, 0x7d + 5d, 0x7d + 0a: 4 * 0x7d + 0x6e = 0x262.
  EXPECT_EQ(framed("#$}*"), "$}\x03}\x04}]}\n#62");
}

TEST(packet, reads) {
  EXPECT_EQ(read("+$OK#9a-\x03$#00"), (events{"+", "packet OK", "-", "interrupt", "packet "}));
  EXPECT_EQ(read("junk\r\n$OK#9A"), (events{"packet OK"}));
  EXPECT_EQ(read("$}\x03}\x04}]}\n#62"), (events{"packet #$}*"}));
  EXPECT_EQ(read("$\x03+-#2b"), (events{"damaged"}));  // 3 + 2b + 2d = 5b
  EXPECT_EQ(read("$\x03+-#5b"), (events{"packet \x03+-"}));
}

TEST(packet, tells_damage) {
  EXPECT_EQ(read("$OK#9b$OK#9a"), (events{"damaged", "packet OK"}));
  EXPECT_EQ(read("$OK#zz+"), (events{"damaged", "+"}));
  EXPECT_EQ(read("$lost its end$OK#9a"), (events{"damaged", "packet OK"}));
  EXPECT_EQ(read("$OK"), events{});
}

TEST(packet, bounds_what_it_keeps) {
  const std::string most(packet_bytes, 'a');
  EXPECT_EQ(read(framed(most)), (events{"packet " + most}));
  EXPECT_EQ(read(framed(most + "a") + "$OK#9a"), (events{"too long", "packet OK"}));
  EXPECT_EQ(read(framed(std::string(50 * packet_bytes, '}')) + "+"), (events{"too long", "+"}));
}

TEST(packet, any_bytes_come_through) {
  constexpr unsigned seed = 20261129;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (int i = 0; i < 2000; ++i) {
    std::string data(random() % 200, '\0');
    for (char& c : data) c = static_cast<char>(random());
    EXPECT_EQ(read(framed(data)), (events{"packet " + data})) << "packet " << i;
  }
}

TEST(packet, reads_on_after_any_rubbish) {
  constexpr unsigned seed = 4711;
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  packet_reader reader;
  int packets = 0;
  for (int i = 0; i < 2000; ++i) {
    for (auto n = random() % 100; n > 0; --n) {
      constexpr char often[] = "$#}+-\x03";
      reader.take(static_cast<std::uint8_t>(random() % 4 == 0 ? often[random() % 6] : static_cast<char>(random())));
    }
    // Whatever was open, a packet that follows an end of packet is understood.
    for (const char c : "$#00"s) reader.take(static_cast<std::uint8_t>(c));
    for (const char c : "$qC#b"s) reader.take(static_cast<std::uint8_t>(c));
    if (reader.take('4') == event::packet && reader.data() == "qC") ++packets;
  }
  EXPECT_EQ(packets, 2000);
}

}  // namespace
}  // namespace dvp::cpu::debug
