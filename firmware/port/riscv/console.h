// Text on the serial port: print("x = ", x, " at ", hex{address}, "\n").
#pragma once

#include <cstdint>
#include <string_view>

#include "firmware/drivers/uart.h"

namespace dvp::port {

// Polled, so that a trap handler may use it too. Several harts at once mix their lines and may lose bytes: two that see
// room for one byte in the port's FIFO both write, and the port drops the second.
extern drivers::uart console;

struct hex {
  std::uint64_t value;
  int digits = 16;  // leading zeros included
};

void put(std::string_view text);
void put(hex number);
void put(std::uint64_t number);  // decimal

template <class... Parts>
void print(const Parts&... parts) {
  (put(parts), ...);
}

}  // namespace dvp::port
