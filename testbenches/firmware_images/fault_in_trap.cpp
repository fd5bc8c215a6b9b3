// Ruins the console's base address, as a stray store could, and traps: the report faults too. The handler survives
// that, says so on the port of the address map, and ends the run.
#include "firmware/drivers/uart.h"
#include "firmware/port/riscv/console.h"

int main() {
  dvp::port::console.flush();
  dvp::port::console = dvp::drivers::uart(0x1800'0000);
  asm volatile("unimp");
  return 1;
}
