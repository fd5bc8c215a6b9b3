#include "firmware/port/riscv/protection.h"

#include "firmware/port/riscv/hart.h"
#include "firmware/port/riscv/memory_map.h"
#include "firmware/port/riscv/stacks.h"

namespace dvp::port {
namespace {

// pmpcfg, one byte per entry (privileged specification, physical memory protection).
constexpr std::uint64_t read = 1, write = 2, execute = 4;
constexpr std::uint64_t top_of_range = 1 << 3;  // from the entry before up to this one's address
constexpr std::uint64_t power_of_two = 3 << 3;  // naturally aligned
constexpr std::uint64_t locked = 1 << 7;        // binds machine mode too

constexpr std::uint64_t range(std::uint64_t rights) {
  return locked | top_of_range | rights;
}
constexpr std::uint64_t nothing = locked | power_of_two;

// An entry's address register counts words; the ones at its end give the size of a power-of-two region.
std::uint64_t page_entry(const std::byte* page) {
  return (address(page) | (page_bytes / 2 - 1)) >> 2;
}

}  // namespace

// The lowest entry that matches decides: the guard pages lie inside the writable range and come first. Entry 2 only
// holds the start of entry 3.
void protect_memory(std::uint32_t hart) {
  write_csr(pmpaddr0, page_entry(stacks[hart].trap_guard));
  write_csr(pmpaddr1, page_entry(stacks[hart].guard));
  write_csr(pmpaddr2, address(text_start) >> 2);
  write_csr(pmpaddr3, address(text_end) >> 2);
  write_csr(pmpaddr4, address(rodata_end) >> 2);
  write_csr(pmpaddr5, address(symbols_start) >> 2);
  write_csr(pmpaddr6, address(image_end) >> 2);
  write_csr(pmpcfg0, nothing | nothing << 8 | range(read | execute) << 24 | range(read) << 32 |
                         range(read | write) << 40 | range(read) << 48);
}

}  // namespace dvp::port
