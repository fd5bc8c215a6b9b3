// The two vector passes that softmax and sampling share; for the bodies of this folder only.
#pragma once

#include <cstdint>

namespace dvp::numerics {

// Values worked on at a time by callers that keep exponentials on the stack.
inline constexpr std::uint32_t exponential_slice = 64;

// Largest scale * x[i]; minus infinity for n = 0. NaN never wins. Which of two equal zeros is returned is open.
float largest_scaled(const float* x, float scale, std::uint32_t n);

// e[i] = exp(scale * x[i] - maximum).
void scaled_exponentials(const float* x, float scale, float maximum, float* e, std::uint32_t n);

}  // namespace dvp::numerics
