// Writes more and faster than the serial port sends: half of it at once without looking, which the port drops beyond
// its FIFO, and half through the driver, of which nothing may get lost.
#include <cstdint>

#include "dvp_gen/system.h"
#include "dvp_gen/uart_regs.h"
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

int main() {
  namespace gen = dvp::gen;
  constexpr std::uint32_t bytes = 4096;
  dvp::port::console.flush();
  for (std::uint32_t i = 0; i < bytes; ++i) {
    dvp::hal::write32(gen::system::uart_base + gen::uart::txdata::offset, '#');
  }
  dvp::port::console.flush();
  dvp::port::print("\n");
  for (std::uint32_t i = 0; i < bytes / 64; ++i) {
    dvp::port::print("line ", std::uint64_t{i}, " of the flood, none of which may get lost ......\n");
  }
  return 0;
}
