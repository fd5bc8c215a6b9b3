#include "firmware/port/riscv/console.h"

#include "dvp_gen/system.h"

namespace dvp::port {

constinit drivers::uart console(gen::system::uart_base);

// Terminals want a carriage return, too.
void put(std::string_view text) {
  for (const char letter : text) {
    if (letter == '\n') {
      console.put('\r');
    }
    console.put(letter);
  }
}

void put(hex number) {
  put("0x");
  for (int digit = number.digits - 1; digit >= 0; --digit) {
    console.put("0123456789abcdef"[number.value >> (4 * digit) & 15]);
  }
}

void put(std::uint64_t number) {
  char text[20];
  std::size_t first = sizeof(text);
  do {
    text[--first] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  put(std::string_view(text + first, sizeof(text) - first));
}

}  // namespace dvp::port
