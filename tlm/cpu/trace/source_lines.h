// The source line of an instruction, from the debug information of an image.
//
// It is read by riscv64-unknown-elf-addr2line, which comes with the compiler that makes images: coverage, and lines in
// a profile, want it on the host.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tlm/core/symbols.h"

namespace dvp::cpu::trace {

struct source_line {
  std::uint32_t file = 0;  // an index for source_lines::file
  std::uint32_t line = 0;  // 0: not known
};

class source_lines {
 public:
  // Knows nothing.
  source_lines() = default;
  // Of every instruction in the functions of the image. std::runtime_error with a sentence when addr2line is not there
  // or cannot read the image. Without debug information no line is known.
  source_lines(const std::string& image, const core::symbol_table& symbols);

  void add(std::uint64_t address, const std::string& file, std::uint32_t line);

  source_line at(std::uint64_t address) const;
  // "" for the index 0, which stands for no file.
  const std::string& file(std::uint32_t index) const { return files_[index]; }
  const std::map<std::uint64_t, source_line>& all() const { return lines_; }  // by address

 private:
  std::map<std::uint64_t, source_line> lines_;
  std::vector<std::string> files_{""};
  std::map<std::string, std::uint32_t> index_;
};

}  // namespace dvp::cpu::trace
