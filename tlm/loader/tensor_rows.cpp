#include "tlm/loader/tensor_rows.h"

#include <cstring>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"

namespace dvp::loader {
namespace {

constexpr std::uint32_t group = 32;

template <typename T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

// Code j of the 16 bytes of a four-bit block: low nibbles hold the first half of the block, high nibbles the second.
std::uint32_t nibble(const std::byte* packed, std::uint32_t j) {
  const auto byte = std::to_integer<std::uint32_t>(packed[j % 16]);
  return j < 16 ? byte & 15 : byte >> 4;
}

}  // namespace

bool is_grouped(ggml_type type) {
  return type == ggml_type::q8_0 || type == ggml_type::q4_0;
}

void values_of(const gguf_tensor& tensor, std::uint64_t first, std::uint64_t count, float* values) {
  const ggml_type_info& type = *tensor.type;
  const std::byte* source = tensor.data.data() + first / type.block_elements * type.block_bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    switch (type.type) {
      case ggml_type::f32:
        values[i] = load<float>(source + 4 * i);
        break;
      case ggml_type::f16:
        values[i] = numerics::from_fp16(load<std::uint16_t>(source + 2 * i));
        break;
      case ggml_type::bf16:
        values[i] = numerics::from_bf16(load<std::uint16_t>(source + 2 * i));
        break;
      default: {  // Q4_1: fp16 scale, fp16 minimum, 16 bytes of codes
        const std::byte* block = source + i / group * type.block_bytes;
        const float scale = numerics::from_fp16(load<std::uint16_t>(block));
        const float minimum = numerics::from_fp16(load<std::uint16_t>(block + 2));
        values[i] = scale * static_cast<float>(nibble(block + 4, i % group)) + minimum;
      }
    }
  }
}

void split_groups(const gguf_tensor& tensor, std::byte* codes, std::byte* scales) {
  const std::uint32_t block_bytes = tensor.type->block_bytes;
  const bool eight = tensor.type->type == ggml_type::q8_0;
  for (std::uint64_t at = 0; at < tensor.data.size(); at += block_bytes) {
    const std::byte* block = tensor.data.data() + at;  // fp16 scale, then the codes
    std::memcpy(scales, block, 2);
    if (eight) {
      std::memcpy(codes, block + 2, group);
    } else {
      for (std::uint32_t j = 0; j < group; ++j) {
        codes[j] = static_cast<std::byte>(nibble(block + 2, j) - 8);
      }
    }
    scales += 2;
    codes += group;
  }
}

}  // namespace dvp::loader
