// Counter-based noise for sampling: a pure function of (key, position, token), so that a draw depends neither on the
// order of work nor on how a vocabulary is cut into chunks.
#pragma once

#include <cstdint>

namespace dvp::numerics {

// mix(mix(key) + g * (position * 2^32 + token + 1)) modulo 2^64 with g = 0x9e3779b97f4a7c15 and
// mix(z): z ^= z >> 30; z *= 0xbf58476d1ce4e5b9; z ^= z >> 27; z *= 0x94d049bb133111eb; z ^= z >> 31.
std::uint64_t noise_bits(std::uint64_t key, std::uint32_t position, std::uint32_t token);

// Uniform in (0, 1): (2 * k + 1) * 2^-24 with k the upper 23 bits of noise_bits. Never 0, never 1.
float uniform_noise(std::uint64_t key, std::uint32_t position, std::uint32_t token);

// Gumbel: -log(-log(uniform_noise)), between -2.9 and 16.7.
float gumbel_noise(std::uint64_t key, std::uint32_t position, std::uint32_t token);

}  // namespace dvp::numerics
