#include "tlm/numerics/noise.h"

#include "tlm/numerics/special.h"

namespace dvp::numerics {

namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9u;
  z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11ebu;
  return z ^ (z >> 31);
}

}  // namespace

std::uint64_t noise_bits(std::uint64_t key, std::uint32_t position, std::uint32_t token) {
  const std::uint64_t counter = (static_cast<std::uint64_t>(position) << 32) + token + 1;
  return mix(mix(key) + 0x9e37'79b9'7f4a'7c15u * counter);
}

float uniform_noise(std::uint64_t key, std::uint32_t position, std::uint32_t token) {
  const std::uint64_t k = noise_bits(key, position, token) >> 41;
  return static_cast<float>(2 * k + 1) * 0x1p-24f;
}

float gumbel_noise(std::uint64_t key, std::uint32_t position, std::uint32_t token) {
  return -log(-log(uniform_noise(key, position, token)));
}

}  // namespace dvp::numerics
