// Small ELF64 files for RISC-V, byte by byte as the System V ABI lays them out, for tests that spoil them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dvp::testbenches {

class elf_writer {
 public:
  using bytes = std::vector<std::byte>;

  // Offsets of fields in the headers.
  enum at : std::size_t {
    magic = 0,
    file_class = 4,
    encoding = 5,
    type = 16,
    machine = 18,
    version = 20,
    entry = 24,
    phoff = 32,
    shoff = 40,
    flags = 48,
    ehsize = 52,
    phentsize = 54,
    phnum = 56,
    shentsize = 58,
    shnum = 60
  };
  enum program : std::size_t {
    p_type = 0,
    p_flags = 4,
    p_offset = 8,
    p_vaddr = 16,
    p_paddr = 24,
    p_filesz = 32,
    p_memsz = 40
  };
  enum section : std::size_t { sh_type = 4, sh_flags = 8, sh_offset = 24, sh_size = 32, sh_link = 40, sh_entsize = 56 };
  static constexpr std::size_t header_bytes = 64, program_bytes = 56, section_bytes = 64, symbol_bytes = 24;
  static constexpr std::uint64_t text = 0x8000'0000, data = 0x8000'1000;
  static constexpr std::size_t text_bytes = 32, data_bytes = 16, data_memory = 64;

  // Two segments (code at `text`, data at `data`), and sections null, .text, .symtab, .strtab.
  elf_writer() {
    put(file_.size(),
        "\x7f"
        "ELF");
    put8(file_class, 2), put8(encoding, 1), put8(6, 1);
    put16(type, 2), put16(machine, 243), put32(version, 1);
    put64(entry, text + 4), put64(phoff, header_bytes);
    put32(flags, 5), put16(ehsize, 64), put16(phentsize, 56), put16(phnum, 2), put16(shentsize, 64), put16(shnum, 4);
    const std::size_t first = header_bytes + 2 * program_bytes;
    segment(0, 5, first, text, text_bytes, text_bytes);
    segment(1, 6, first + text_bytes, data, data_bytes, data_memory);
    for (std::size_t i = 0; i < text_bytes + data_bytes; ++i) put8(first + i, static_cast<std::uint8_t>(i));

    symbols_ = file_.size();
    std::string names(1, '\0');
    const auto named = [&](const char* name) {
      const auto offset = static_cast<std::uint32_t>(names.size());
      names += name;
      names += '\0';
      return offset;
    };
    const std::size_t total = 7;
    symbol(0, 0, 0, 0, 0, 0);
    symbol(1, named("main"), 2, 1, text, 8);
    symbol(2, named("_ZN3dvp4apps5serveEm"), 2, 1, text + 8, 4);
    symbol(3, named("$x"), 0, 1, text, 0);
    symbol(4, named("counter"), 1, 3, data, 4);
    symbol(5, named("label"), 0, 1, text + 12, 0);  // label, in code
    symbol(6, named("outside"), 2, 0, 0, 0);        // outside: undefined
    names_ = file_.size();
    put(names_, names);
    sections_ = file_.size();
    put64(shoff, sections_);
    section_entry(0, 0, 0, 0, 0, 0, 0);
    section_entry(1, 1, 6, first, text_bytes, 0, 0);
    section_entry(2, 2, 0, symbols_, total * symbol_bytes, 3, symbol_bytes);
    section_entry(3, 3, 0, names_, names.size(), 0, 0);
  }

  const bytes& build() const { return file_; }
  std::size_t of_program(std::size_t i, program field) const { return header_bytes + i * program_bytes + field; }
  std::size_t of_section(std::size_t i, section field) const { return sections_ + i * section_bytes + field; }
  std::size_t of_symbol(std::size_t i) const { return symbols_ + i * symbol_bytes; }
  std::size_t of_names() const { return names_; }

  void put8(std::size_t offset, std::uint8_t value) { put_number(offset, value, 1); }
  void put16(std::size_t offset, std::uint16_t value) { put_number(offset, value, 2); }
  void put32(std::size_t offset, std::uint32_t value) { put_number(offset, value, 4); }
  void put64(std::size_t offset, std::uint64_t value) { put_number(offset, value, 8); }
  void put(std::size_t offset, const std::string& text_to_put) {
    for (std::size_t i = 0; i < text_to_put.size(); ++i) put8(offset + i, static_cast<std::uint8_t>(text_to_put[i]));
  }

 private:
  void put_number(std::size_t offset, std::uint64_t value, std::size_t count) {
    if (file_.size() < offset + count) file_.resize(offset + count);
    for (std::size_t i = 0; i < count; ++i) file_[offset + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
  }
  void segment(std::size_t i, std::uint32_t access, std::uint64_t offset, std::uint64_t address, std::uint64_t in_file,
               std::uint64_t in_memory) {
    put32(of_program(i, p_type), 1), put32(of_program(i, p_flags), access), put64(of_program(i, p_offset), offset);
    put64(of_program(i, p_vaddr), address), put64(of_program(i, p_paddr), address);
    put64(of_program(i, p_filesz), in_file), put64(of_program(i, p_memsz), in_memory);
    put64(of_program(i, p_memsz) + 8, 1);
  }
  void symbol(std::size_t i, std::uint32_t name, std::uint8_t kind, std::uint16_t in_section, std::uint64_t value,
              std::uint64_t size) {
    put32(of_symbol(i), name), put8(of_symbol(i) + 4, static_cast<std::uint8_t>(16 | kind));
    put16(of_symbol(i) + 6, in_section), put64(of_symbol(i) + 8, value), put64(of_symbol(i) + 16, size);
  }
  void section_entry(std::size_t i, std::uint32_t kind, std::uint64_t access, std::uint64_t offset, std::uint64_t size,
                     std::uint32_t link, std::uint64_t entry_size) {
    put32(of_section(i, sh_type), kind), put64(of_section(i, sh_flags), access);
    put64(of_section(i, sh_offset), offset), put64(of_section(i, sh_size), size);
    put32(of_section(i, sh_link), link), put64(of_section(i, sh_entsize), entry_size);
  }

  bytes file_;
  std::size_t symbols_ = 0;
  std::size_t names_ = 0;
  std::size_t sections_ = 0;
};

}  // namespace dvp::testbenches
