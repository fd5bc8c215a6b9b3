// The sampling unit: arg-max and confidence of one row of logits that arrives in chunks.
//
// The definition is per element, in ascending token order, so the result does not depend on how the row is cut:
//
//     suppressed token or logit minus infinity: skipped
//     logit > maximum:   sum = (sum * exp(maximum - logit)) + 1, then maximum = logit
//     otherwise:         sum = sum + exp(logit - maximum)
//     value = logit at temperature 0, else (logit / temperature) + gumbel_noise(key, position, token)
//     value > best_value:  best_value = value, best_logit = logit, best_token = token        (ties keep the lower
//     token)
//
// Binary32 throughout, every operation rounded by itself, NaN canonical. A NaN logit is never chosen and makes the
// confidence NaN; so does a logit of plus infinity, which is chosen.
#pragma once

#include <cstdint>

namespace dvp::numerics {

inline constexpr std::uint32_t no_token = 0xffff'ffffu;

// Same layout as the sampling_state record.
struct running_sample {
  float maximum = 0;  // largest logit so far
  float sum = 0;      // of exp(logit - maximum)
  float best_value = 0;
  float best_logit = 0;
  std::uint32_t best_token = no_token;
};

struct sample {
  std::uint32_t token = no_token;
  float confidence = 0;
};

// maximum, best_value and best_logit minus infinity, sum +0, best_token no_token.
running_sample start();

// Takes in logits[0..n) of tokens first_token, first_token + 1, ... suppressed_token may be no_token. temperature: 0 or
// above, finite. position is the row's position in the sequence; key and position matter only above temperature 0.
void update(running_sample& state, const float* logits, std::uint32_t n, std::uint32_t first_token,
            std::uint32_t suppressed_token, float temperature, std::uint64_t key, std::uint32_t position);

// token = best_token, confidence = exp(best_logit - maximum) * reciprocal(sum), the chosen token's softmax probability
// at temperature 1; at temperature 0 that is 1 / sum. {no_token, +0} when there was nothing to choose.
sample finish(const running_sample& state);

}  // namespace dvp::numerics
