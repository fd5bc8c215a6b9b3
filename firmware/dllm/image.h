// Reads the model image (gen/spec/formats/image.json) into configuration and weights.
#pragma once

#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/kernels/model.h"

namespace dvp::dllm {

// Checks everything the decode relies on: magic, version, sizes within what the kernels' 32-bit arithmetic holds,
// table and tensors inside the image and 64-byte aligned, every needed tensor present once with the shape and a format
// the kernels can run (norms, biases and the rotary table fp32, matrices bf16 or q8_group32). Tensors that the
// flags say the model has not are refused, not ignored. Codes: ok, bad_image; after bad_image model and w are
// unusable.
[[nodiscard]] gen::result_code read_image(std::uint64_t address, kernels::config& model, kernels::weights& w);

}  // namespace dvp::dllm
