#include "tlm/numerics/sampling.h"

#include <limits>

#include "tlm/numerics/exponentials.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/noise.h"
#include "tlm/numerics/special.h"

namespace dvp::numerics {

namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();
constexpr std::uint32_t slice = exponential_slice;

// The definition's maximum and sum for one logit.
void take_one(running_sample& state, float logit) {
  if (logit == minus_infinity) return;
  if (logit > state.maximum) {
    state.sum = canonical(state.sum * exp(state.maximum - logit) + 1.0f);
    state.maximum = logit;
  } else {
    state.sum = canonical(state.sum + exp(logit - state.maximum));
  }
}

void choose(running_sample& state, float value, float logit, std::uint32_t token) {
  if (!(value > state.best_value)) return;
  state.best_value = value;
  state.best_logit = logit;
  state.best_token = token;
}

// At most one slice of logits, suppressed ones already minus infinity; top is the largest. While a finite maximum stays
// as it is, skipping a logit and adding exp(-inf) = +0 are one thing, so the exponentials need no order; the sum does.
void take_slice(running_sample& state, const float* logits, std::uint32_t n, float top) {
  if (state.maximum == minus_infinity || top > state.maximum) {
    for (std::uint32_t i = 0; i < n; ++i) take_one(state, logits[i]);
    return;
  }
  alignas(64) float e[slice];
  scaled_exponentials(logits, 1.0f, state.maximum, e, n);
  for (std::uint32_t i = 0; i < n; ++i) state.sum += e[i];
  state.sum = canonical(state.sum);
}

}  // namespace

running_sample start() {
  return {minus_infinity, 0.0f, minus_infinity, minus_infinity, no_token};
}

void update(running_sample& state, const float* logits, std::uint32_t n, std::uint32_t first_token,
            std::uint32_t suppressed_token, float temperature, std::uint64_t key, std::uint32_t position) {
  alignas(64) float kept[slice];
  for (std::uint32_t begin = 0; begin < n; begin += slice) {
    const std::uint32_t count = n - begin < slice ? n - begin : slice;
    const std::uint32_t token = first_token + begin;
    for (std::uint32_t i = 0; i < count; ++i)
      kept[i] = token + i == suppressed_token ? minus_infinity : logits[begin + i];
    const float top = largest_scaled(kept, 1.0f, count);
    take_slice(state, kept, count, top);
    if (temperature > 0.0f) {
      for (std::uint32_t i = 0; i < count; ++i) {
        const float noise = gumbel_noise(key, position, token + i);
        if (kept[i] != minus_infinity) choose(state, kept[i] / temperature + noise, kept[i], token + i);
      }
    } else if (top > state.best_value) {
      for (std::uint32_t i = 0; i < count; ++i) choose(state, kept[i], kept[i], token + i);
    }
  }
}

sample finish(const running_sample& state) {
  if (state.best_token == no_token) return {};
  return {state.best_token, multiply(exp(state.best_logit - state.maximum), reciprocal(state.sum))};
}

}  // namespace dvp::numerics
