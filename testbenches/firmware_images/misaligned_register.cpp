// Reads a device register at an odd address: a load address misaligned exception.
#include <cstdint>

#include "dvp_gen/system.h"
#include "dvp_gen/uart_regs.h"

int main() {
  namespace gen = dvp::gen;
  const std::uint64_t address = gen::system::uart_base + gen::uart::ip::offset + 2;
  std::uint32_t value;
  asm volatile("lw %0, 0(%1)" : "=r"(value) : "r"(address));
  return 1;
}
