// The one source of randomness of a run: splitmix64 (Steele, Lea, Flood, OOPSLA 2014), seeded by the request.
//
// One key is drawn per sampling forward, before the forward is issued; the noise itself is a pure function of (key,
// position, token), so a run depends on the seed alone.
#pragma once

#include <cstdint>

namespace dvp::dllm {

class random_generator {
 public:
  explicit random_generator(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  std::uint64_t state_;
};

}  // namespace dvp::dllm
