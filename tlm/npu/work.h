// What a descriptor moves and computes: what energy is reckoned from. A function of its shape and the configuration.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "tlm/npu/descriptor_view.h"
#include "tlm/npu/npu_config.h"

namespace dvp::npu {

// Formats that a gemm streams, bf16 to q2 of gen::precision.
inline constexpr std::size_t streamed_formats = static_cast<std::size_t>(gen::precision::q2) + 1;

struct work {
  std::array<std::uint64_t, streamed_formats> macs{};  // by streamed format
  std::uint64_t vector_passes = 0;                     // elements of the vector unit, times its passes over them
  std::uint64_t sampling_elements = 0;
  // Read and written through the scratchpad's ports. A gemm reads the streamed operand and its scales once for every
  // tile of tokens, and with accumulate the result before it writes it; everything else moves each operand once.
  std::uint64_t scratchpad_bytes = 0;

  work& operator+=(const work& other);
};

// Of a descriptor that passed check().
work work_of(const npu_config& config, const descriptor_view& descriptor);

}  // namespace dvp::npu
