// Writes into its own constants: a store access fault, because memory protection holds for machine mode too.
#include "firmware/port/riscv/console.h"
#include "firmware/port/riscv/memory_map.h"

int main() {
  dvp::port::print("constants begin at ", dvp::port::hex{dvp::port::address(dvp::port::text_end)}, "\n");
  *reinterpret_cast<volatile int*>(dvp::port::text_end) = 1;
  return 1;
}
