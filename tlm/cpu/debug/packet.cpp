#include "tlm/cpu/debug/packet.h"

#include "tlm/cpu/debug/hex.h"

namespace dvp::cpu::debug {

namespace {

constexpr std::uint8_t interrupt_byte = 0x03;
constexpr char escape = '}';
constexpr std::uint8_t escape_flip = 0x20;

}  // namespace

std::string framed(std::string_view data) {
  std::string out = "$";
  for (const char c : data) {
    if (c == '$' || c == '#' || c == escape || c == '*') {
      out += escape;
      out += static_cast<char>(static_cast<std::uint8_t>(c) ^ escape_flip);
    } else {
      out += c;
    }
  }
  unsigned sum = 0;
  for (std::size_t i = 1; i < out.size(); ++i) sum += static_cast<std::uint8_t>(out[i]);
  out += '#';
  append_byte(out, static_cast<std::uint8_t>(sum));
  return out;
}

void packet_reader::start() {
  state_ = state::inside;
  data_.clear();
  sum_ = 0;
  too_long_ = false;
}

void packet_reader::append(std::uint8_t byte) {
  if (data_.size() == packet_bytes) {
    too_long_ = true;
  } else {
    data_ += static_cast<char>(byte);
  }
}

packet_reader::event packet_reader::take(std::uint8_t byte) {
  switch (state_) {
    case state::between:
      if (byte == '$') start();
      if (byte == '+') return event::positive;
      if (byte == '-') return event::negative;
      return byte == interrupt_byte ? event::interrupt : event::none;
    case state::inside:
    case state::escaped:
      // A "$" inside can only be the start of the next packet after this one lost its end.
      if (byte == '$') {
        start();
        return event::damaged;
      }
      if (byte == '#') {
        state_ = state::first_digit;
        return event::none;
      }
      sum_ = static_cast<std::uint8_t>(sum_ + byte);
      if (state_ == state::escaped) {
        append(byte ^ escape_flip);
        state_ = state::inside;
      } else if (byte == escape) {
        state_ = state::escaped;
      } else {
        append(byte);
      }
      return event::none;
    case state::first_digit:
      high_digit_ = digit(static_cast<char>(byte));
      state_ = state::second_digit;
      return event::none;
    case state::second_digit:
      break;
  }
  state_ = state::between;
  const int low_digit = digit(static_cast<char>(byte));
  if (high_digit_ < 0 || low_digit < 0 || high_digit_ * 16 + low_digit != sum_) return event::damaged;
  return too_long_ ? event::too_long : event::packet;
}

}  // namespace dvp::cpu::debug
