// FNV-1a, 64 bits, over the little-endian bytes of words (Fowler, Noll, Vo).
#pragma once

#include <cstdint>

namespace dvp::dllm {

inline constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;

constexpr std::uint64_t fnv(std::uint64_t state, std::uint32_t word) {
  for (std::uint32_t shift = 0; shift < 32; shift += 8) {
    state = (state ^ (word >> shift & 0xff)) * 0x100000001b3u;
  }
  return state;
}

}  // namespace dvp::dllm
