// Names of the image's functions by address, from the table that symbols.py puts behind the image.
//
// Layout, little-endian words: count, bytes of the whole table, offset of the title; count entries {address -
// text_start, offset of the name} by ascending address; text, each piece ended by 0. Offsets are bytes from the table's
// start.
#pragma once

#include <cstdint>

namespace dvp::port {

struct location {
  const char* function = nullptr;  // null: in none
  std::uint64_t start = 0;         // of the function
};

class symbol_table {
 public:
  // table: 4-byte aligned. It names the code in [text_start, text_end).
  symbol_table(const void* table, std::uint64_t text_start, std::uint64_t text_end);

  // "name version" of the image.
  const char* title() const { return text(words_[2]); }
  std::uint32_t bytes() const { return words_[1]; }
  bool code(std::uint64_t address) const { return address >= text_start_ && address < text_end_; }
  location find(std::uint64_t address) const;

 private:
  const char* text(std::uint32_t offset) const { return reinterpret_cast<const char*>(words_) + offset; }

  const std::uint32_t* words_;
  std::uint64_t text_start_;
  std::uint64_t text_end_;
};

}  // namespace dvp::port
