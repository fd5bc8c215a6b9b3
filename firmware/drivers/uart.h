// Driver of the serial port, polled: text goes out byte by byte, nothing is kept in memory. While the port is busy the
// hart sleeps for a microsecond at a time.
//
// Simple enough to be used from a trap handler: no state but the base address, no interrupt of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dvp::drivers {

class uart {
 public:
  constexpr explicit uart(std::uint64_t base) : base_(base) {}

  // Turns sender and receiver on; the bit rate stays what the platform set. Never blocks.
  void start();

  // Blocks while the port's FIFO is full, that is for about one character's time.
  void put(char byte);
  void put(std::string_view text);

  // Blocks until every byte has left the FIFO: the last one may still be on the wire.
  void flush();

  // The next received byte; nothing when there is none. Never blocks.
  [[nodiscard]] std::optional<char> get();

 private:
  std::uint64_t base_;
};

}  // namespace dvp::drivers
