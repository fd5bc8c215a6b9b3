// Where in the scratchpad a descriptor reads and writes: the one statement of every operand's shape. Range and
// alignment checks, bank ports and the scratchpad-width part of the timing are all derived from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tlm/npu/descriptor_view.h"

namespace dvp::npu {

// planes x rows pieces of row_bytes; piece (p, r) starts at address + p * plane_stride + r * stride.
struct operand {
  std::uint32_t address = 0;
  std::uint64_t row_bytes = 0;
  std::uint64_t rows = 1;
  std::uint32_t stride = 0;
  std::uint64_t planes = 1;
  std::uint32_t plane_stride = 0;
  std::uint32_t alignment = 1;  // of address and, where they are used, strides
  bool written = false;
  // Of operands whose rows a list picks, or that are read and written: bytes that move. 0: all, once.
  std::uint64_t moved = 0;

  std::uint64_t bytes() const { return row_bytes * rows * planes; }
  std::uint64_t moved_bytes() const { return moved != 0 ? moved : bytes(); }
  // First byte after the operand; saturates instead of wrapping, whatever the fields hold.
  std::uint64_t end() const;
};

class operand_list {
 public:
  void add(const operand& item) { items_[count_++] = item; }
  const operand* begin() const { return items_.data(); }
  const operand* end() const { return items_.data() + count_; }
  std::size_t size() const { return count_; }

 private:
  std::array<operand, 6> items_{};
  std::size_t count_ = 0;
};

// Bits of one code; 8 for everything but q4 and q2.
std::uint32_t code_bits(gen::precision precision);
// Bytes of so many codes, packed.
std::uint64_t packed_bytes(gen::precision precision, std::uint64_t elements);

// The halves of rebuild_descriptor.rank_limit.
constexpr std::uint32_t rank_of(const gen::rebuild_descriptor& d) {
  return d.rank_limit & 0xffU;
}
constexpr std::uint32_t limit_of(const gen::rebuild_descriptor& d) {
  return d.rank_limit >> 8;
}

// The scratchpad operands of a descriptor whose opcode and function exist; empty for a fence and for stage, which moves
// bytes from memory to memory.
operand_list operands_of(const descriptor_view& descriptor);

}  // namespace dvp::npu
