// Small complete models for the loader's tests, as GGUF writers that a test can still spoil.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbenches/lib/gguf_writer.h"

namespace dvp::testbenches {

// ggml's type numbers.
inline constexpr std::uint32_t f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, q4_k = 12, bf16 = 30;

struct tiny_options {
  std::string architecture = "llada";
  std::uint32_t matrices = q8_0;
  std::uint32_t vectors = f32;
  bool tied = false;
  bool merges = false;
  std::uint64_t seed = 1;
};

// Width 32, 2 heads of 16, 2 layers (llada: 2 key-value heads, else 1), 64 channels, 40 positions, the tokens below.
gguf_writer tiny_model(const tiny_options& options = {});

// <|pad|> <|mask|> <|end|> newline space a b c, the two bytes of e-acute, ab abc " a" ' 1 and user-defined <tool>.
inline constexpr std::uint32_t tiny_pad = 0, tiny_mask = 1, tiny_end = 2, tiny_newline = 3, tiny_space = 4, tiny_a = 5,
                               tiny_b = 6, tiny_c = 7, tiny_e_lead = 8, tiny_e_tail = 9, tiny_ab = 10, tiny_abc = 11,
                               tiny_space_a = 12, tiny_quote = 13, tiny_one = 14, tiny_tool = 15, tiny_tokens = 16;

// Finite pseudo-random data of a tensor type.
byte_string random_data(std::uint32_t type, std::uint64_t elements, std::uint64_t seed);

// The seed corpus of the fuzz target and of the mutation test: one file per architecture and kind of storage.
std::vector<byte_string> seed_files();

}  // namespace dvp::testbenches
