// Feeds its watch-dog through a long piece of work, whose result its timer interrupts must not change; then hangs: the
// watch-dog says where and ends the run with its own code.
#include <cstdint>

#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace {

constexpr std::uint32_t silence_us = 100;

// A chain over many registers: any that an interrupt loses shows in the result.
std::uint64_t work() {
  std::uint64_t value[12];
  for (std::uint64_t i = 0; i < 12; ++i) {
    value[i] = i;
  }
  for (int step = 0; step < 200'000; ++step) {
    if (step % 256 == 0) {
      dvp::hal::feed_watchdog();
    }
    for (int i = 0; i < 12; ++i) {
      value[i] = value[i] * 6364136223846793005u + value[(i + 1) % 12] + 1;
    }
  }
  std::uint64_t sum = 0;
  for (const std::uint64_t v : value) {
    sum ^= v;
  }
  return sum;
}

[[gnu::noinline]] void hang() {
  for (;;) {
    asm volatile("");
  }
}

}  // namespace

int main() {
  const std::uint64_t alone = work();
  dvp::hal::start_watchdog(silence_us);
  const std::uint64_t watched = work();
  // A stopped one does not bite.
  dvp::hal::start_watchdog(0);
  const std::uint64_t stopped = dvp::hal::now_ns();
  while (dvp::hal::now_ns() - stopped < 2 * silence_us * 1000) {
  }
  if (watched != alone) {
    dvp::port::print("results differ: ", dvp::port::hex{alone}, " ", dvp::port::hex{watched}, "\n");
    return 1;
  }
  dvp::port::print("fed it well\n");
  dvp::hal::start_watchdog(silence_us);
  hang();
  return 1;
}
