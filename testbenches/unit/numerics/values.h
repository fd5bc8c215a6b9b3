// Operands for the numerics tests: bit views and random values that visit every range of a format.
#pragma once

#include <bit>
#include <cstdint>
#include <random>

namespace dvp::numerics::test {

inline std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline float value_of(std::uint32_t code) {
  return std::bit_cast<float>(code);
}

// Mostly moderate numbers, sometimes any code at all: zeros, subnormals, huge values, infinities, NaN with payloads.
class operand_source {
 public:
  explicit operand_source(std::uint32_t seed, double special_share = 0.05) : random_(seed), special_(special_share) {}

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  std::uint16_t any16() { return static_cast<std::uint16_t>(random_()); }
  std::int8_t code() { return static_cast<std::int8_t>(random_()); }

  float fp32(float spread = 4.0f) {
    if (special_(random_)) return value_of(static_cast<std::uint32_t>(random_()));
    return spread * normal_(random_);
  }
  std::uint16_t bf16() { return static_cast<std::uint16_t>(bits(fp32()) >> 16); }

 private:
  std::mt19937 random_;
  std::bernoulli_distribution special_;
  std::normal_distribution<float> normal_;
};

}  // namespace dvp::numerics::test
