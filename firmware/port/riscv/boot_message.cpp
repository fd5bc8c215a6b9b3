#include "firmware/port/riscv/boot_message.h"

#include <cstdint>
#include <string_view>

#include "firmware/port/riscv/console.h"
#include "firmware/port/riscv/image_symbols.h"
#include "firmware/port/riscv/memory_map.h"
#include "firmware/port/riscv/stacks.h"

namespace dvp::port {
namespace {

std::uint64_t kibibytes(std::uint64_t bytes) {
  return (bytes + 1023) / 1024;
}

void print_range(std::string_view name, std::uint64_t first, std::uint64_t end) {
  print(name, hex{first, 8}, " ", kibibytes(end - first), " KiB\n");
}

}  // namespace

void print_boot_message() {
  const symbol_table names = image_symbols();
  const std::uint64_t image = address(text_start), end = address(symbols_start) + names.bytes();
  console.start();
  print(names.title(), ", ", kibibytes(end - image), " of ", kibibytes(address(image_end) - image), " KiB\n");
  print_range("  code      ", image, address(text_end));
  print_range("  constants ", address(text_end), address(rodata_end));
  print_range("  data      ", address(rodata_end), address(data_end));
  print_range("  bss       ", address(bss_start), address(bss_end));
  print_range("  stacks    ", address(stacks_start), address(symbols_start));
  print_range("  symbols   ", address(symbols_start), end);
  print_range("  free      ", end, address(image_end));
}

}  // namespace dvp::port
