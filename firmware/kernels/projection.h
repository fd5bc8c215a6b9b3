// Projections of normalised rows onto whole heads.
#pragma once

#include <cstdint>

#include "firmware/kernels/layer.h"
#include "firmware/kernels/streamed_product.h"

namespace dvp::kernels {

// Output channels [first, first + channels) of weight * normed + bias, fp32 [t][channels], in the result region that
// is returned. bias_place: where in the scratchpad the whole bias lies, used with qkv_bias.
matrix project(const config& model, const tensor& weight, std::uint32_t bias_place, std::uint32_t first,
               std::uint32_t channels, run_state& state, const row_span& span);

// Brings a bias to the scratchpad; does nothing for a model without.
void load_bias(const config& model, const tensor& bias, std::uint32_t place, run_state& state);

// Where the biases lie: q, then k, then v.
struct bias_places {
  std::uint32_t q;
  std::uint32_t k;
  std::uint32_t v;
};
bias_places places_of(const config& model, const scratchpad_plan& plan);

gen::vector_function rope_function(const config& model);

}  // namespace dvp::kernels
