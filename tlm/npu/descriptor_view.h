// A descriptor as fetched: 64 bytes that become one of the generated records once the opcode says which.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

struct descriptor_view {
  alignas(8) std::array<std::byte, gen::descriptor_bytes> bytes{};

  descriptor_view() = default;
  template <typename Record>
  requires(sizeof(Record) == gen::descriptor_bytes) explicit descriptor_view(const Record& record)
      : bytes(std::bit_cast<decltype(bytes)>(record)) {}

  template <typename Record>
  Record as() const {
    return std::bit_cast<Record>(bytes);
  }
  // Every descriptor starts with the same header.
  gen::descriptor_header header() const { return as<gen::vector_descriptor>().header; }
  gen::opcode op() const { return header().op; }
  bool flag(std::uint8_t bit) const { return (header().flags & bit) != 0; }
};

}  // namespace dvp::npu
