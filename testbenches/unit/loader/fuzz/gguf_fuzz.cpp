// libFuzzer target over the loader.
#include <cstddef>
#include <cstdint>
#include <span>

#include "testbenches/unit/loader/fuzz/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dvp::testbenches::exercise(std::as_bytes(std::span(data, size)));
  return 0;
}
