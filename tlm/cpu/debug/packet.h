// Packets of GDB's remote serial protocol as bytes: "$data#xx", acknowledgements and the interrupt byte.
//
// Source: the GDB manual, appendix "GDB Remote Serial Protocol", section "Overview".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dvp::cpu::debug {

// Data of a packet, after escapes, that is accepted; what qSupported announces.
inline constexpr std::size_t packet_bytes = 0x4000;

// "$", the data with $ # } * escaped, "#" and the checksum.
std::string framed(std::string_view data);

// Finds packets in a stream of bytes. Bytes between packets that mean nothing are skipped.
class packet_reader {
 public:
  enum class event : std::uint8_t {
    none,       // more bytes are needed
    packet,     // data() holds one
    damaged,    // its checksum is wrong or missing
    too_long,   // more than packet_bytes; its data is dropped
    positive,   // "+"
    negative,   // "-": the peer wants the last packet again
    interrupt,  // 0x03 between packets
  };

  event take(std::uint8_t byte);
  const std::string& data() const { return data_; }

 private:
  enum class state : std::uint8_t { between, inside, escaped, first_digit, second_digit };

  void start();
  void append(std::uint8_t byte);

  state state_ = state::between;
  std::string data_;
  std::uint8_t sum_ = 0;
  int high_digit_ = 0;
  bool too_long_ = false;
};

}  // namespace dvp::cpu::debug
