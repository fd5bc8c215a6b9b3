// Sets of positions of a block: a word, bit i for position i.
#pragma once

#include <bit>
#include <cstdint>

namespace dvp::dllm {

using position_set = std::uint64_t;

// Positions [first, first + count); first + count at most 64.
constexpr position_set positions(std::uint32_t first, std::uint32_t count) {
  const position_set low = count == 64 ? ~position_set{0} : (position_set{1} << count) - 1;
  return count == 0 ? 0 : low << first;
}

constexpr std::uint32_t count(position_set set) {
  return static_cast<std::uint32_t>(std::popcount(set));
}

// 64 when the set is empty.
constexpr std::uint32_t lowest(position_set set) {
  return static_cast<std::uint32_t>(std::countr_zero(set));
}

// Of a set that is not empty.
constexpr std::uint32_t highest(position_set set) {
  return 63 - static_cast<std::uint32_t>(std::countl_zero(set));
}

}  // namespace dvp::dllm
