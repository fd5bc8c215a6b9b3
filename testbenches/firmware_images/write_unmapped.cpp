// Writes where the address map has nothing: a store access fault.
#include <cstdint>

#include "firmware/hal/hal.h"

int main() {
  dvp::hal::write32(0x1800'0000, 1);
  return 1;
}
