// Hart 1 uses up its stack while hart 0 waits for it: the report is about hart 1, on its own trap stack. With one hart
// the program says so and ends with 2.
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace {

volatile bool deeper = true;  // the compiler may not know that this never ends

[[gnu::noinline]] unsigned recurse(unsigned depth) {
  volatile unsigned local[8] = {depth};
  return deeper ? recurse(local[0] + 1) + local[depth % 8] : depth;
}

void overflow(void* depth) {
  *static_cast<unsigned*>(depth) = recurse(0);
}

}  // namespace

int main() {
  unsigned depth = 0;
  if (!dvp::hal::start_hart(1, overflow, &depth)) {
    dvp::port::print("there is no second hart\n");
    return 2;
  }
  while (!dvp::hal::hart_idle(1)) {
  }
  return 1;
}
