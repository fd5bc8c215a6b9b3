#include "tlm/numerics/rows.h"

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/clones.h"
#include "tlm/numerics/exp_steps.h"
#include "tlm/numerics/exponentials.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/fp32.h"
#include "tlm/numerics/special.h"

namespace dvp::numerics {

void dequantise_row(const std::int8_t* codes, const std::uint16_t* scales, std::uint32_t group, float* d,
                    std::uint32_t n) {
  for (std::uint32_t begin = 0; begin < n; begin += group) {
    const float scale = from_fp16(scales[begin / group]);
    const std::uint32_t end = n - begin < group ? n : begin + group;
    for (std::uint32_t i = begin; i < end; ++i) d[i] = multiply(scale, static_cast<float>(codes[i]));
  }
}

DVP_VECTOR_CLONES
void rms_norm_row(const float* x, const float* weight, float epsilon, std::uint16_t* d, std::uint32_t n) {
  float sum = 0.0f;
  for (std::uint32_t i = 0; i < n; ++i) sum += x[i] * x[i];
  const float r = rsqrt(sum / static_cast<float>(n) + epsilon);
  for (std::uint32_t i = 0; i < n; ++i) d[i] = to_bf16((x[i] * r) * weight[i]);
}

DVP_VECTOR_CLONES
void add_row(const float* a, const float* b, float* d, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) d[i] = add(a[i], b[i]);
}

DVP_VECTOR_CLONES
void rope_row(const float* x, const float* cosines, const float* sines, bool halves, std::uint32_t head_length,
              std::uint16_t* d, std::uint32_t n) {
  const std::uint32_t pairs = head_length / 2;
  const std::uint32_t step = halves ? 1 : 2;
  const std::uint32_t partner = halves ? pairs : 1;
  for (std::uint32_t head = 0; head < n; head += head_length) {
    for (std::uint32_t p = 0; p < pairs; ++p) {
      const std::uint32_t i = head + p * step;
      const float a = x[i];
      const float b = x[i + partner];
      d[i] = to_bf16(a * cosines[p] - b * sines[p]);
      d[i + partner] = to_bf16(a * sines[p] + b * cosines[p]);
    }
  }
}

void softmax_row(const float* x, float scale, std::uint16_t* d, std::uint32_t n) {
  constexpr std::uint32_t slice = exponential_slice;
  alignas(64) float e[slice];
  const float maximum = largest_scaled(x, scale, n);
  float sum = 0.0f;
  for (std::uint32_t begin = 0; begin < n; begin += slice) {
    const std::uint32_t count = n - begin < slice ? n - begin : slice;
    scaled_exponentials(x + begin, scale, maximum, e, count);
    for (std::uint32_t i = 0; i < count; ++i) sum += e[i];
  }
  const float r = reciprocal(sum);
  for (std::uint32_t begin = 0; begin < n; begin += slice) {
    const std::uint32_t count = n - begin < slice ? n - begin : slice;
    if (n > slice) scaled_exponentials(x + begin, scale, maximum, e, count);
    for (std::uint32_t i = 0; i < count; ++i) d[begin + i] = to_bf16(e[i] * r);
  }
}

DVP_VECTOR_CLONES
void silu_multiply_row(const float* gate, const float* up, std::uint16_t* d, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) d[i] = to_bf16(steps::silu(gate[i]) * up[i]);
}

DVP_VECTOR_CLONES
void to_bf16_row(const float* x, std::uint16_t* d, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) d[i] = to_bf16(x[i]);
}

}  // namespace dvp::numerics
