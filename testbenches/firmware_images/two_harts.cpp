// Hart 1 sums the second half of an array while hart 0 sums the first; exit code 0 when both sums are right. With one
// hart the program says so and ends with 2.
#include <cstdint>
#include <numeric>
#include <span>

#include "firmware/hal/hal.h"
#include "firmware/port/riscv/console.h"

namespace {

constexpr std::uint64_t count = 20'000;
std::uint32_t numbers[count];

struct job {
  std::span<const std::uint32_t> numbers;
  std::uint64_t sum = 0;
};

void add(void* argument) {
  job& work = *static_cast<job*>(argument);
  work.sum = std::accumulate(work.numbers.begin(), work.numbers.end(), std::uint64_t{0});
}

}  // namespace

int main() {
  std::iota(std::begin(numbers), std::end(numbers), 1u);
  job halves[2] = {{.numbers = {numbers, count / 2}}, {.numbers = {numbers + count / 2, count / 2}}};
  // Twice: a hart that has worked takes work again.
  for (int round = 0; round < 2; ++round) {
    halves[1].sum = 0;
    if (!dvp::hal::start_hart(1, add, &halves[1])) {
      const std::uint64_t begin = dvp::hal::now_ns();
      const bool there = dvp::hal::start_hart(1, add, &halves[1]);
      const bool at_once = dvp::hal::now_ns() - begin < 50'000;
      dvp::port::print("there is no second hart", !there && at_once ? ", and nobody waits for it again\n" : "\n");
      return 2;
    }
    add(&halves[0]);
    while (!dvp::hal::hart_idle(1)) {
    }
    const std::uint64_t sum = halves[0].sum + halves[1].sum;
    dvp::port::print("hart 0: ", halves[0].sum, ", hart 1: ", halves[1].sum, "\n");
    if (sum != count * (count + 1) / 2) {
      return 1;
    }
  }
  return 0;
}
