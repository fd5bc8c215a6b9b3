// Takes the serial port away from the hart, with the memory protection, and traps: the report faults, and so does the
// report of that. Nothing is printed, but the run ends.
#include <cstdint>

#include "dvp_gen/system.h"
#include "firmware/port/riscv/console.h"
#include "firmware/port/riscv/hart.h"

int main() {
  namespace map = dvp::gen::system;
  constexpr std::uint64_t locked_power_of_two = 0x98;
  dvp::port::console.flush();
  write_csr(pmpaddr7, (map::uart_base | (map::uart_bytes / 2 - 1)) >> 2);
  set_csr(pmpcfg0, locked_power_of_two << 56);
  asm volatile("unimp");
  return 1;
}
