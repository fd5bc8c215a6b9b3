// Puts things in order of a number, largest first. Numbers are compared as bf16: two bytes decide, so two passes over
// the things do, whatever the numbers are.
#pragma once

#include <cstdint>
#include <span>

namespace dvp::dllm {

// Rises when the number, rounded to bf16, falls. Both zeros are one number; NaN comes behind everything.
std::uint16_t falling_key(float number);

// order holds things; reorders it by keys[thing], ascending; things with equal keys keep their order. spare: as long as
// order.
void sort_by_key(std::span<const std::uint16_t> keys, std::span<std::uint32_t> order, std::span<std::uint32_t> spare);

}  // namespace dvp::dllm
