// Reads an executable for RV64 bare metal: ELF64, little-endian, linked to fixed addresses.
//
// The file is hostile until proven otherwise: after the constructor every segment lies in the file, none overlaps
// another in memory, none wraps around the address space, and the entry is in one that may be executed. What the
// machine has at those addresses is the caller's question. Layout: System V ABI (ELF-64 object file format) and the
// RISC-V ELF psABI for machine, flags and mapping symbols.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tlm/loader/file_map.h"

namespace dvp::loader {

// One piece of the program.
struct elf_segment {
  std::uint64_t address = 0;        // where it is loaded: the physical address
  std::span<const std::byte> data;  // its first bytes; the rest is zero
  std::uint64_t memory_bytes = 0;   // 1 or more, at least data.size()
  std::uint64_t offset = 0;         // of its data in the file, for messages
  bool writable = false;
  bool executable = false;

  std::uint64_t last() const { return address + (memory_bytes - 1); }
};

// A function or an object. Labels of an assembler file that lie in code count as functions.
struct elf_symbol {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;  // 0: the file does not say
  std::string name;         // demangled, unless that would make it longer than 512 characters
  bool function = false;
};

class elf_file {
 public:
  // Maps and checks the file. Throws load_error, as for a model file.
  static elf_file open(const std::string& path);
  // `name` is for messages; the bytes outlive this.
  elf_file(std::string name, std::span<const std::byte> bytes);

  const std::string& name() const { return name_; }
  std::uint64_t entry() const { return entry_; }
  const std::vector<elf_segment>& segments() const { return segments_; }  // by address, one at least
  const std::vector<elf_symbol>& symbols() const { return symbols_; }     // in the file's order; none when stripped

 private:
  std::string name_;
  std::shared_ptr<const file_map> map_;
  std::uint64_t entry_ = 0;
  std::vector<elf_segment> segments_;
  std::vector<elf_symbol> symbols_;
};

}  // namespace dvp::loader
