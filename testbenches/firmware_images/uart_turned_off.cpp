// Turns the serial port's sender off, which is how every trap before the boot message finds it, and traps: the report
// is printed all the same.
#include "dvp_gen/system.h"
#include "dvp_gen/uart_regs.h"
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

int main() {
  namespace gen = dvp::gen;
  dvp::port::console.flush();
  dvp::hal::write32(gen::system::uart_base + gen::uart::txctrl::offset, 0);
  asm volatile("unimp");
  return 1;
}
