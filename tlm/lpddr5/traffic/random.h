// Random numbers that are the same with every compiler and library: xoshiro256** seeded by splitmix64 (Blackman and
// Vigna, "Scrambled linear pseudorandom number generators", 2021).
#pragma once

#include <bit>
#include <cstdint>

namespace dvp::lpddr5 {

class random_generator {
 public:
  explicit random_generator(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, n), n >= 1: the high half of a product, which favours no value by more than n / 2^64.
  std::uint64_t below(std::uint64_t n) {
    __extension__ using wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<wide>(next()) * n) >> 64);
  }

  // True in `share` of the cases, 0 to 1.
  bool chance(double share) { return static_cast<double>(next() >> 11) * 0x1p-53 < share; }

 private:
  std::uint64_t state_[4];
};

}  // namespace dvp::lpddr5
