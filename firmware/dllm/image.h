// Reads the model image (gen/spec/formats/image.json) into configuration and weights.
#pragma once

#include <cstdint>
#include <span>

#include "dvp_gen/request.h"
#include "firmware/kernels/anchored_ffn.h"
#include "firmware/kernels/model.h"

namespace dvp::dllm {

// Checks everything the decode relies on: magic, version, sizes within what the kernels' 32-bit arithmetic holds,
// table and tensors inside the image and 64-byte aligned, every needed tensor present once with the shape and a format
// the kernels can run (norms, biases and the rotary table fp32, matrices bf16 or q8_group32). Tensors that the
// flags say the model has not are refused, not ignored. Tensors for compression may be missing; those that are there
// have their shapes and go to `channels`, by layer. Codes: ok, bad_image; after bad_image model, w and channels are
// unusable.
[[nodiscard]] gen::result_code read_image(std::uint64_t address, kernels::config& model, kernels::weights& w,
                                          std::span<kernels::channel_weights, kernels::most_layers> channels);

// Whether every layer has what an anchored network needs: channels, importance and views; with a correction rank, both
// corrections of at least that rank, and all of one rank.
[[nodiscard]] bool has_channels(const kernels::config& model,
                                std::span<const kernels::channel_weights, kernels::most_layers> channels,
                                std::uint32_t correction_rank);

}  // namespace dvp::dllm
