// Runs for ever: only a limit of the platform ends it.
#include "firmware/port/riscv/console.h"

namespace {

[[gnu::noinline]] void spin() {
  for (;;) {
    asm volatile("");
  }
}

}  // namespace

int main() {
  dvp::port::print("for ever\n");
  spin();
  return 1;
}
