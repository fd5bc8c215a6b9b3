// The program that the RV64 seat executes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tlm/core/symbols.h"
#include "tlm/loader/elf.h"

namespace dvp::platform {

// Memory that a program may be loaded into.
struct program_memory {
  const char* name;
  std::uint64_t base;
  std::span<std::byte> bytes;
};

class program_image {
 public:
  // loader::load_error when the file cannot be used.
  explicit program_image(const std::string& path);

  const std::string& path() const { return file_.name(); }
  std::uint64_t entry() const { return file_.entry(); }
  const core::symbol_table& symbols() const { return symbols_; }

  // Copies every segment and clears what follows it up to its size in memory. loader::load_error, and nothing copied,
  // when a segment lies in none of these.
  void load(std::span<const program_memory> memories) const;

 private:
  loader::elf_file file_;
  core::symbol_table symbols_;
};

// The image built with this program. usage_error, naming the target that builds it, when it is not there.
std::string built_image();

}  // namespace dvp::platform
