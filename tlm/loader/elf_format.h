// Records of an ELF64 file, as the System V ABI lays them out; little-endian like the host.
#pragma once

#include <bit>
#include <cstdint>

namespace dvp::loader::elf {

static_assert(std::endian::native == std::endian::little, "records are read as they lie in the file");

struct header {
  std::uint8_t magic[4];
  std::uint8_t file_class;
  std::uint8_t encoding;
  std::uint8_t ident_version;
  std::uint8_t os_abi;
  std::uint8_t padding[8];
  std::uint16_t type;
  std::uint16_t machine;
  std::uint32_t version;
  std::uint64_t entry;
  std::uint64_t program_headers;
  std::uint64_t section_headers;
  std::uint32_t flags;
  std::uint16_t header_bytes;
  std::uint16_t program_header_bytes;
  std::uint16_t program_header_count;
  std::uint16_t section_header_bytes;
  std::uint16_t section_header_count;
  std::uint16_t section_names;
};
static_assert(sizeof(header) == 64);

struct program_header {
  std::uint32_t type;
  std::uint32_t flags;
  std::uint64_t offset;
  std::uint64_t virtual_address;
  std::uint64_t physical_address;
  std::uint64_t file_bytes;
  std::uint64_t memory_bytes;
  std::uint64_t alignment;
};
static_assert(sizeof(program_header) == 56);

struct section_header {
  std::uint32_t name;
  std::uint32_t type;
  std::uint64_t flags;
  std::uint64_t address;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint32_t link;
  std::uint32_t info;
  std::uint64_t alignment;
  std::uint64_t entry_bytes;
};
static_assert(sizeof(section_header) == 64);

struct symbol {
  std::uint32_t name;
  std::uint8_t info;
  std::uint8_t other;
  std::uint16_t section;
  std::uint64_t value;
  std::uint64_t bytes;
};
static_assert(sizeof(symbol) == 24);

enum : std::uint8_t { class_64 = 2, little_endian = 1, current_version = 1 };
enum : std::uint16_t { type_object = 1, type_executable = 2, type_shared = 3, type_core = 4 };
inline constexpr std::uint16_t machine_riscv = 243;

// e_flags of RISC-V.
enum : std::uint32_t {
  flag_compressed = 1,
  flag_float_abi = 6,  // 0 soft, 2 single, 4 double, 6 quad
  float_abi_quad = 6,
  flag_embedded = 8,  // only 16 integer registers
  flag_total_store_order = 16,
  known_flags = 31
};

enum : std::uint32_t { segment_load = 1, segment_dynamic = 2, segment_interpreter = 3 };
enum : std::uint32_t { segment_executable = 1, segment_writable = 2 };
enum : std::uint32_t { section_symbols = 2, section_strings = 3 };
inline constexpr std::uint64_t section_flag_code = 4;
enum : std::uint16_t { section_undefined = 0, first_reserved_section = 0xff00 };
enum : std::uint8_t { symbol_plain = 0, symbol_object = 1, symbol_function = 2 };

}  // namespace dvp::loader::elf
