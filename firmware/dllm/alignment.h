// How buffers of a request follow one another: every one starts on a line of the memory's bursts.
#pragma once

#include <cstdint>

namespace dvp::dllm {

inline constexpr std::uint64_t alignment = 64;  // bytes

// Up to the next multiple.
constexpr std::uint64_t align_up(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace dvp::dllm
