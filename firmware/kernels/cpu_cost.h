// What the operators of the CPU's forward cost, told to hal::spend: one function for each of cpu_layer.h, without its
// arithmetic, so that a machine without data takes the same time. cpu_forward.h says what they come to.
#pragma once

#include "firmware/kernels/cpu_layer.h"

namespace dvp::kernels {

void spend_embed(const cpu_pass& pass, const cpu_tile& tile);
void spend_normalise(const cpu_pass& pass, const tensor& weight, const cpu_tile& tile);
void spend_keys_values(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);
void spend_attend(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);
void spend_feed_forward(const cpu_pass& pass, std::uint32_t layer, const cpu_tile& tile);
void spend_sample(const cpu_pass& pass, const cpu_tile& tile);

// Keys and values of `rows` positions one behind the other, stored into a layer of a cache.
void spend_store(const config& model, std::uint32_t rows, std::uint32_t position, std::uint32_t layer,
                 const kv_cache& to);

}  // namespace dvp::kernels
