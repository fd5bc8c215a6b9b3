// How many bits an element of a precision takes.
#pragma once

#include <cstdint>

#include "dvp_gen/descriptor.h"

namespace dvp::kernels {

// 0 for q0, of which nothing is stored or moved.
constexpr std::uint32_t element_bits(gen::precision precision) {
  switch (precision) {
    case gen::precision::bf16:
      return 16;
    case gen::precision::q8:
    case gen::precision::raw:
      return 8;
    case gen::precision::q4:
      return 4;
    case gen::precision::q2:
      return 2;
    case gen::precision::q0:
      break;
  }
  return 0;
}

// Bytes of so many elements side by side.
constexpr std::uint32_t packed_bytes(gen::precision precision, std::uint32_t elements) {
  return (elements * element_bits(precision) + 7) / 8;
}

}  // namespace dvp::kernels
