// Tensor data of a GGUF file in the forms the model image needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tlm/loader/gguf.h"

namespace dvp::loader {

// True for the types kept as codes with a scale per 32 values: Q8_0 and Q4_0.
bool is_grouped(ggml_type type);

// Values first .. first + count - 1 of an F32, F16, BF16 or Q4_1 tensor as fp32. Exact but for Q4_1, whose value is
// scale * code + minimum rounded once to fp32 for the sum (the product is exact), as ggml computes it.
// first: a multiple of the type's block.
void values_of(const gguf_tensor& tensor, std::uint64_t first, std::uint64_t count, float* values);

// All codes and scales of a Q8_0 or Q4_0 tensor, in file order: elements of int8 at codes, elements/32 fp16 at scales.
// Destinations need no alignment.
void split_groups(const gguf_tensor& tensor, std::byte* codes, std::byte* scales);

}  // namespace dvp::loader
