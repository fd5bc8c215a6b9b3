// Rings hart 1 while it works under a watch-dog, as the ring of an offer may do that it took before: the work goes on,
// and hart 1 takes the next work afterwards. Exit code 0; 2 without a second hart.
#include <cstdint>

#include "dvp_gen/clint_regs.h"
#include "dvp_gen/system.h"
#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace {

constexpr int rounds = 3;
volatile bool rung;
int finished;

void work(void*) {
  dvp::hal::start_watchdog(10'000);
  while (!rung) {
  }
  dvp::hal::start_watchdog(0);
  ++finished;
}

}  // namespace

int main() {
  namespace gen = dvp::gen;
  for (int round = 0; round < rounds; ++round) {
    rung = false;
    if (!dvp::hal::start_hart(1, work, nullptr)) {
      dvp::port::print("there is no second hart\n");
      return 2;
    }
    const std::uint64_t begin = dvp::hal::now_ns();
    while (dvp::hal::now_ns() - begin < 20'000) {
    }
    dvp::hal::write32(gen::system::clint_base + gen::clint::msip::state::at(1), 1);
    while (dvp::hal::now_ns() - begin < 40'000) {
    }
    rung = true;
    while (!dvp::hal::hart_idle(1)) {
    }
  }
  dvp::port::print("hart 1 worked ", static_cast<std::uint64_t>(finished), " times\n");
  return finished == rounds ? 0 : 1;
}
