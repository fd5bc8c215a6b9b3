// Calls a function that is not there: an instruction access fault whose pc lies in no function.
#include <cstdint>

namespace {

using function = void (*)();

[[gnu::noinline]] void call(function target) {
  target();
  asm volatile("");  // a call, not a jump
}

}  // namespace

int main() {
  volatile std::uint64_t nowhere = 0x40;
  call(reinterpret_cast<function>(nowhere));
  return 1;
}
