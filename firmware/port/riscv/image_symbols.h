// The symbol table of this image.
#pragma once

#include "firmware/port/riscv/memory_map.h"
#include "firmware/port/riscv/symbols.h"

namespace dvp::port {

inline symbol_table image_symbols() {
  return {symbols_start, address(text_start), address(text_end)};
}

}  // namespace dvp::port
