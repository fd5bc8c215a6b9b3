#include "tlm/numerics/exponentials.h"

#include <limits>

#include "tlm/numerics/clones.h"
#include "tlm/numerics/exp_steps.h"
#include "tlm/numerics/lanes.h"

namespace dvp::numerics {

DVP_VECTOR_CLONES
float largest_scaled(const float* x, float scale, std::uint32_t n) {
  float result = -std::numeric_limits<float>::infinity();
  std::uint32_t i = 0;
  if (n >= lane_count) {
    lanes best = lanes{} + result;
    for (; i + lane_count <= n; i += lane_count) {
      lanes t;
      load(t, x + i);
      t = t * scale;
      best = t > best ? t : best;
    }
    for (std::uint32_t lane = 0; lane < lane_count; ++lane) result = best[lane] > result ? best[lane] : result;
  }
  for (; i < n; ++i) {
    const float t = scale * x[i];
    result = t > result ? t : result;
  }
  return result;
}

DVP_VECTOR_CLONES
void scaled_exponentials(const float* x, float scale, float maximum, float* e, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) e[i] = steps::exp(scale * x[i] - maximum);
}

}  // namespace dvp::numerics
