// Memory that a hart may use by pointer.
#pragma once

#include <cstdint>

namespace dvp::cpu::rv64 {

struct granted_memory {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint8_t* data = nullptr;  // of `first`
  bool readable = false;
  bool writable = false;
  bool executable = false;
};

}  // namespace dvp::cpu::rv64
