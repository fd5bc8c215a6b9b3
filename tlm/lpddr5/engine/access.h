// What is asked of a memory.
#pragma once

#include <cstdint>

namespace dvp::lpddr5 {

struct access {
  std::uint64_t id = 0;       // the caller's name for it
  std::uint64_t address = 0;  // first byte
  std::uint64_t bytes = 0;    // array bytes = 8-bit elements, 1 or more; inside the memory
  bool write = false;
  std::uint8_t precision = 8;  // bits per element that cross the I/O: 8, 4, 2, 0; not 8 only for tagged reads
  bool tagged = false;         // carries a precision tag: scales and conversion are accounted

  // A block: rows of bytes / rows each, row i at address + stride * (list ? list[i] : i). The list is the caller's and
  // looked at inside submit() only.
  std::uint32_t rows = 1;
  std::uint64_t stride = 0;
  const std::uint32_t* list = nullptr;

  bool is_block() const { return rows != 1; }
  std::uint64_t row_bytes() const { return bytes / rows; }
  std::uint64_t row_address(std::uint32_t i) const {
    return address + stride * (list == nullptr ? std::uint64_t{i} : std::uint64_t{list[i]});
  }
};

}  // namespace dvp::lpddr5
