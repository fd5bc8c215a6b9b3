// libFuzzer target over the readers of memory configurations.
#include <cstddef>
#include <cstdint>

#include "testbenches/unit/lpddr5/config/fuzz/exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dvp::testbenches::exercise_memory_config({reinterpret_cast<const char*>(data), size});
  return 0;
}
