// A small complete compression sidecar for the loader's tests, as a GGUF writer that a test can still spoil.
#pragma once

#include <cstdint>
#include <string>

#include "testbenches/lib/gguf_writer.h"

namespace dvp::testbenches {

// ggml's type numbers.
inline constexpr std::uint32_t i8 = 24, i32 = 26;

struct sidecar_options {
  std::string model_sha256 = std::string(64, '0');
  std::uint32_t layers = 2;
  std::uint32_t width = 32;
  std::uint32_t channels = 64;
  std::uint32_t slots = 16;
  std::uint32_t correction_rank = 2;
  std::uint64_t seed = 1;
};

// For tiny_model() unless told otherwise. Shares 0.5, 0.25, 0.125; setting i touches with gain i / 4, half of it at q8
// and a quarter at q4; the q4 view is fitted, the q2 view the midpoint.
gguf_writer tiny_sidecar(const sidecar_options& options = {});

}  // namespace dvp::testbenches
