// RISC-V defines division by zero (unprivileged specification, table of division results): all ones and the dividend,
// no trap. Ends with exit code 0 when that is what comes out.
#include <cstdint>

#include "firmware/port/riscv/console.h"

namespace {

// Not the operators: the language leaves their result undefined.
std::uint64_t quotient(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result;
  asm volatile("divu %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

std::uint64_t remainder(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result;
  asm volatile("remu %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
  return result;
}

}  // namespace

int main() {
  using dvp::port::hex;
  const std::uint64_t divided = quotient(42, 0), left = remainder(42, 0);
  dvp::port::print("42 / 0 = ", hex{divided}, ", 42 % 0 = ", left, "\n");
  return divided == ~std::uint64_t{0} && left == 42 ? 0 : 1;
}
