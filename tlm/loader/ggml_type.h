// Tensor types of ggml, as GGUF numbers them.
#pragma once

#include <cstdint>

namespace dvp::loader {

enum class ggml_type : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q4_1 = 3, q8_0 = 8, q4_k = 12, bf16 = 30 };

struct ggml_type_info {
  ggml_type type;
  const char* name;
  std::uint32_t block_elements;  // values stored together, along the row
  std::uint32_t block_bytes;     // what such a block takes
  bool readable;                 // this loader can turn it into a model image
};

// The row of a type number, or null when it is not one of ggml's current types.
const ggml_type_info* find_ggml_type(std::uint32_t number);

}  // namespace dvp::loader
