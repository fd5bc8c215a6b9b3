// Typed rows inside the scratchpad's bytes. Addresses were checked for range and alignment before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dvp::npu {

template <typename T>
const T* row_at(std::span<const std::byte> scratchpad, std::uint32_t address, std::uint32_t stride = 0,
                std::uint64_t row = 0) {
  return reinterpret_cast<const T*>(scratchpad.data() + address + row * stride);
}

template <typename T>
T* row_at(std::span<std::byte> scratchpad, std::uint32_t address, std::uint32_t stride = 0, std::uint64_t row = 0) {
  return reinterpret_cast<T*>(scratchpad.data() + address + row * stride);
}

}  // namespace dvp::npu
