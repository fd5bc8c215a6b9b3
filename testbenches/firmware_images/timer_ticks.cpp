// Sleeps ten times for 50 us by the hart's own timer, with nothing that could interrupt earlier; exit code 0 when every
// sleep took as long as asked and less than twice that.
#include <cstdint>

#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

int main() {
  constexpr std::uint32_t tick_us = 50;
  for (int tick = 0; tick < 10; ++tick) {
    const std::uint64_t begin = dvp::hal::now_ns();
    const bool interrupted = dvp::hal::wait_for_interrupt(tick_us);
    const std::uint64_t slept = dvp::hal::now_ns() - begin;
    dvp::port::print("tick ", std::uint64_t(tick), " after ", slept, " ns\n");
    if (interrupted || slept < tick_us * 1000 || slept >= 2 * tick_us * 1000) {
      return 1;
    }
  }
  return 0;
}
