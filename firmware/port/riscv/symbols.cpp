#include "firmware/port/riscv/symbols.h"

namespace dvp::port {

symbol_table::symbol_table(const void* table, std::uint64_t text_start, std::uint64_t text_end)
    : words_(static_cast<const std::uint32_t*>(table)), text_start_(text_start), text_end_(text_end) {}

location symbol_table::find(std::uint64_t address) const {
  if (!code(address)) {
    return {};
  }
  const std::uint32_t* entries = words_ + 3;
  const std::uint64_t wanted = address - text_start_;
  // Entries [0, first) start at or before the address.
  std::uint32_t first = 0;
  std::uint32_t count = words_[0];
  while (count != 0) {
    const std::uint32_t half = count / 2;
    if (entries[2 * (first + half)] <= wanted) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  if (first == 0) {
    return {};
  }
  const std::uint32_t* entry = entries + 2 * (first - 1);
  return {.function = text(entry[1]), .start = text_start_ + entry[0]};
}

}  // namespace dvp::port
