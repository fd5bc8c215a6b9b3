// The model image: what firmware finds in DRAM (layout in gen/spec/formats/image.json).
//
// Storage of a matrix, by its type in the file:
//   Q8_0            q8_group32, codes and scales unchanged bit for bit, only laid out apart
//   Q4_0            q8_group32, codes nibble - 8 (-8 to 7), scales unchanged: the same values
//   BF16            bf16, unchanged (a NaN becomes the canonical one)
//   F32, F16, Q4_1  bf16, rounded to nearest even from the fp32 value; the report names the tensors
// Norms and biases become fp32, exactly. With a compression sidecar its tensors follow, bit for bit. The rotary table
// is added as the last tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dvp_gen/image.h"
#include "tlm/loader/compression_sidecar.h"
#include "tlm/loader/model.h"

namespace dvp::loader {

inline constexpr std::uint32_t longest_context = 131072;  // positions numerics::rotary is defined for

struct image_options {
  // Positions the image has room for; a model with a longer context is cut to it. 1 to longest_context.
  std::uint32_t context_limit = longest_context;
  // Made for the model; outlives the layout. Null: none.
  const compression_sidecar* sidecar = nullptr;
};

// Everything of the image but its data. Rows lie one behind the other without padding; data and scales of every tensor
// start at a multiple of 64 bytes.
struct image_layout {
  gen::image_header header;
  // Those of model::tensors in their order, then of the sidecar, then the rotary table.
  std::vector<gen::tensor_entry> entries;
  const compression_sidecar* sidecar = nullptr;
};

struct image_report {
  std::uint64_t image_bytes = 0;
  std::uint64_t parameters = 0;    // values of all tensors of the file
  std::vector<std::string> notes;  // sentences for the user: what was rounded, what was cut
};

// The layout of a model's image. Takes no memory for the data: header.total_bytes says what to provide. Throws
// load_error when a size does not fit the fields of the image.
image_layout plan_image(const model& source, const image_options& options = {});

// Writes the image, gaps zeroed, to the start of destination. What the file or the sidecar has no data of stays as it
// is there. Throws load_error when that is shorter than
// header.total_bytes, before anything is written.
image_report write_image(const model& source, const image_layout& layout, std::span<std::byte> destination);

}  // namespace dvp::loader
