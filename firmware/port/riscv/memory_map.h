// Addresses that the linker script gives names to. All are multiples of the page size but bss_start, bss_end, data_end.
//
//   text_start    code              read, execute
//   text_end      constants         read
//   rodata_end    data, bss         read, write
//   stacks_start  stacks            read, write
//   symbols_start symbol table      read; behind it nothing lies up to image_end
#pragma once

#include <cstdint>

namespace dvp::port {

inline constexpr std::uint64_t page_bytes = 4096;

extern "C" {
extern char text_start[], text_end[], rodata_end[], data_end[], bss_start[], bss_end[];
extern char stacks_start[], symbols_start[], image_end[];
}

// Of a symbol or any other object.
inline std::uint64_t address(const void* object) {
  return reinterpret_cast<std::uint64_t>(object);
}

}  // namespace dvp::port
