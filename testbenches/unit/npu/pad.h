// A scratchpad full of numbers for tests of what descriptors do to it, and conversions that owe the library nothing.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "tlm/npu/descriptor_check.h"
#include "tlm/npu/operands.h"

namespace dvp::npu::test {

inline constexpr std::uint32_t scratchpad_bytes = 0x10000;

inline float from_half_up(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}

inline std::uint16_t nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t low = bits & 0xffff;
  const bool up = low > 0x8000 || (low == 0x8000 && (bits >> 16 & 1) != 0);
  return static_cast<std::uint16_t>((bits >> 16) + (up ? 1 : 0));
}

// Binary16, normal numbers: fraction 10 bits, exponent offset 15.
inline float from_half(std::uint16_t code) {
  const float fraction = 1.0F + static_cast<float>(code & 0x3ff) / 1024.0F;
  return std::ldexp((code & 0x8000) != 0 ? -fraction : fraction, (code >> 10 & 31) - 15);
}

// A scratchpad of random moderate floats, with typed access by byte address.
struct pad {
  std::vector<std::uint64_t> words = std::vector<std::uint64_t>(scratchpad_bytes / 8);
  std::mt19937 random{99};

  pad() {
    std::normal_distribution<float> normal;
    for (std::uint32_t a = 0; a < scratchpad_bytes; a += 4) put<float>(a, normal(random));
  }
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(words)); }
  template <typename T>
  T get(std::size_t address) {
    T value;
    std::memcpy(&value, bytes().data() + address, sizeof value);
    return value;
  }
  template <typename T>
  void put(std::size_t address, T value) {
    std::memcpy(bytes().data() + address, &value, sizeof value);
  }
  // Halves between 2^-7 and 2^8 in magnitude.
  void fill_halves(std::uint32_t address, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      put<std::uint16_t>(address + 2 * i, static_cast<std::uint16_t>((random() & 0x83ff) | (8 + random() % 15) << 10));
    }
  }
  void fill_bf16(std::uint32_t address, std::uint32_t count) {
    std::normal_distribution<float> normal;
    for (std::uint32_t i = 0; i < count; ++i) put<std::uint16_t>(address + 2 * i, nearest_bf16(normal(random)));
  }
};

// Every byte outside the written operands of d is as in `before`.
inline void expect_rest_untouched(pad& before, pad& after, const descriptor_view& d) {
  std::vector<bool> owned(scratchpad_bytes, false);
  for (const operand& item : operands_of(d)) {
    for (std::uint64_t r = 0; item.written && r < item.rows; ++r) {
      for (std::uint64_t b = 0; b < item.row_bytes; ++b) owned[item.address + r * item.stride + b] = true;
    }
  }
  for (std::uint32_t a = 0; a < scratchpad_bytes; ++a) {
    if (owned[a]) continue;
    ASSERT_EQ(after.bytes()[a], before.bytes()[a]) << "byte " << a;
  }
}

inline void expect_valid(const descriptor_view& d) {
  ASSERT_EQ(check(d, 0, {scratchpad_bytes, 512}), gen::npu::error_code::none);
}

}  // namespace dvp::npu::test
