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

  std::uint64_t bytes() const { return row_bytes * rows * planes; }
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
  std::array<operand, 4> items_{};
  std::size_t count_ = 0;
};

// The scratchpad operands of a descriptor whose opcode and function exist; empty for a fence and for stage, which moves
// bytes from memory to memory.
operand_list operands_of(const descriptor_view& descriptor);

}  // namespace dvp::npu
