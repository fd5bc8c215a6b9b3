// The smallest program: says hello and ends with exit code 0.
#include "firmware/port/riscv/console.h"

int main() {
  dvp::port::print("hello\n");
  return 0;
}
