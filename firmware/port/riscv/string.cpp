// What the compiler calls by itself, in place of the C library's.
#include <cstddef>
#include <cstdint>

#include "firmware/port/riscv/bytes.h"

extern "C" {

void* memcpy(void* to, const void* from, std::size_t count) {
  dvp::port::copy_bytes(static_cast<std::byte*>(to), static_cast<const std::byte*>(from), count);
  return to;
}

void* memset(void* to, int value, std::size_t count) {
  dvp::port::fill_bytes(static_cast<std::byte*>(to), static_cast<std::uint8_t>(value), count);
  return to;
}
}
