// libFuzzer target over the reader of executables.
#include <cstddef>
#include <cstdint>
#include <span>

#include "testbenches/unit/loader/fuzz/exercise_elf.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dvp::testbenches::exercise_elf(std::as_bytes(std::span(data, size)));
  return 0;
}
