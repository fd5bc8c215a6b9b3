// How a model wants to be decoded: the dllm.* keys of its GGUF file.
#pragma once

#include <cstdint>
#include <string>

#include "tlm/loader/gguf.h"

namespace dvp::loader {

// What a request uses unless the user says otherwise. The members' initial values are those of absent keys.
struct decode_defaults {
  std::uint32_t block_length = 32;     // dllm.block_length: tokens per block, 1 or more
  std::uint32_t sub_block_length = 8;  // dllm.sub_block_length: divides block_length; absent and 8 does not: the block
  float threshold = 0.9f;              // dllm.threshold: commit above this confidence, 0 to 1
  std::uint32_t gen_length = 64;       // dllm.gen_length: tokens to generate, 1 or more
  std::uint32_t steps = 32;            // dllm.steps: forwards of the llada loop in all, 1 or more
  std::string prompt_suffix;           // dllm.prompt_suffix: appended to a user's prompt; the answer follows it
};

// Throws load_error for values outside these ranges or of the wrong type.
decode_defaults read_decode_defaults(const gguf_file& file);

}  // namespace dvp::loader
