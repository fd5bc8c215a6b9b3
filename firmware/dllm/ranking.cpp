#include "firmware/dllm/ranking.h"

#include <array>
#include <utility>

#include "tlm/numerics/bf16.h"

namespace dvp::dllm {
namespace {

constexpr std::uint32_t digit_bits = 8;

}  // namespace

std::uint16_t falling_key(float number) {
  if (number != number) {
    return 0xffff;
  }
  const std::uint16_t code = numerics::to_bf16(number);
  const bool below_zero = code > 0x8000;
  return static_cast<std::uint16_t>(below_zero ? code : 0x7fff - (code & 0x7fff));
}

void sort_by_key(std::span<const std::uint16_t> keys, std::span<std::uint32_t> order, std::span<std::uint32_t> spare) {
  for (std::uint32_t shift = 0; shift < 16; shift += digit_bits) {
    std::array<std::uint32_t, 1u << digit_bits> next{};  // where the next thing with a digit goes
    const auto digit = [&](std::uint32_t thing) { return keys[thing] >> shift & ((1u << digit_bits) - 1); };
    for (const std::uint32_t thing : order) {
      ++next[digit(thing)];
    }
    std::uint32_t before = 0;
    for (std::uint32_t& count : next) {
      before += std::exchange(count, before);
    }
    for (const std::uint32_t thing : order) {
      spare[next[digit(thing)]++] = thing;
    }
    std::swap(order, spare);
  }
}

}  // namespace dvp::dllm
