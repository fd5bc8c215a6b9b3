// Harts 0 and 1 compete for hart 2, each with a function and an argument of its own: whoever was told that its work
// runs finds that it ran, once, with its own argument. Exit code 0; 2 with fewer than three harts.
#include <cstdint>

#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace {

constexpr std::uint64_t rounds = 20'000;

struct caller {
  std::uint64_t started;  // by the answers of start_hart
  std::uint64_t runs;     // by the work itself, on hart 2
};

caller callers[2];
std::uint64_t mixed;
volatile bool begin;

template <int Caller>
void work(void* argument) {
  if (argument == &callers[Caller]) {
    ++callers[Caller].runs;
  } else {
    ++mixed;
  }
  // Long enough that both callers ask again and again, and see together that the hart is idle; another length each
  // time.
  for (std::uint64_t i = 0; i < 20 + callers[Caller].runs % 16; ++i) {
    asm volatile("");
  }
}

template <int Caller>
void compete() {
  caller& self = callers[Caller];
  for (std::uint64_t i = 0; i < rounds; ++i) {
    self.started += dvp::hal::start_hart(2, work<Caller>, &self);
  }
}

void second(void*) {
  while (!begin) {
  }
  compete<1>();
}

}  // namespace

int main() {
  if (!dvp::hal::start_hart(1, second, nullptr) || !dvp::hal::start_hart(2, work<0>, &callers[0])) {
    begin = true;
    dvp::port::print("there are no three harts\n");
    return 2;
  }
  callers[0].started = 1;
  begin = true;
  compete<0>();
  while (!dvp::hal::hart_idle(1) || !dvp::hal::hart_idle(2)) {
  }
  bool right = mixed == 0;
  for (const caller& c : callers) {
    dvp::port::print("started ", c.started, ", ran ", c.runs, "\n");
    right = right && c.started == c.runs && c.started != 0;
  }
  dvp::port::print("mixed ", mixed, "\n");
  return right ? 0 : 1;
}
