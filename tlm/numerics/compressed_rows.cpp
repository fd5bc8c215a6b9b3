#include "tlm/numerics/compressed_rows.h"

#include <algorithm>

#include "tlm/numerics/bf16.h"
#include "tlm/numerics/clones.h"
#include "tlm/numerics/converter.h"
#include "tlm/numerics/exp_steps.h"
#include "tlm/numerics/fp16.h"
#include "tlm/numerics/fp32.h"

namespace dvp::numerics {
namespace {

constexpr float largest_fp16 = 65504.0f;
constexpr float largest_code = 127.0f;

float magnitude(float x) {
  return x < 0 ? -x : x;
}

// To nearest even, for |x| below 2^22.
float nearest(float x) {
  constexpr float shift = 0x1.8p23f;
  return (x + shift) - shift;
}

struct channel_row {
  const float* __restrict gate;
  const float* __restrict up;
  std::uint16_t* __restrict gate_state;
  std::uint16_t* __restrict up_state;
  std::uint16_t* __restrict d;

  // The mode is known where it is compiled, so that the loop has no branches and vectorises.
  template <bool add_state, bool fresh>
  [[gnu::always_inline]] void update(float scale, std::uint32_t n) const {
    for (std::uint32_t i = 0; i < n; ++i) {
      const float old_gate = from_bf16(gate_state[i]);
      const float old_up = from_bf16(up_state[i]);
      const std::uint16_t new_gate = to_bf16(add_state ? old_gate + gate[i] : gate[i]);
      const std::uint16_t new_up = to_bf16(add_state ? old_up + up[i] : up[i]);
      const float after = from_bf16(to_bf16(steps::silu(from_bf16(new_gate)) * from_bf16(new_up)));
      const float before = fresh ? 0.0f : from_bf16(to_bf16(steps::silu(old_gate) * old_up));
      gate_state[i] = new_gate;
      up_state[i] = new_up;
      d[i] = to_bf16((after - before) * scale);
    }
  }
};

}  // namespace

std::uint16_t encode_row(const float* s, const float* base, std::int8_t* d, std::uint32_t n) {
  const auto residual = [&](std::uint32_t i) { return base != nullptr ? s[i] - base[i] : s[i]; };
  float largest = 0.0f;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float m = magnitude(residual(i));
    largest = m > largest ? m : largest;
  }
  const std::uint16_t scale_code = to_fp16(std::min(largest / largest_code, largest_fp16));
  const float scale = from_fp16(scale_code);
  for (std::uint32_t i = 0; i < n; ++i) {
    const float steps = residual(i) / scale;
    const bool number = scale != 0 && steps == steps;
    d[i] = number ? static_cast<std::int8_t>(nearest(std::clamp(steps, -largest_code, largest_code))) : std::int8_t{0};
  }
  return scale_code;
}

squares difference_row(const std::uint16_t* a, const std::uint16_t* b, std::uint16_t* d, std::uint32_t n) {
  squares sums;
  for (std::uint32_t i = 0; i < n; ++i) {
    const float anchor = from_bf16(b[i]);
    const float x = add(from_bf16(a[i]), -anchor);
    d[i] = to_bf16(x);
    sums.moved = add(sums.moved, multiply(x, x));
    sums.anchored = add(sums.anchored, multiply(anchor, anchor));
  }
  return sums;
}

DVP_VECTOR_CLONES
void maximum_row(const float* s, float* m, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) m[i] = s[i] > m[i] ? s[i] : m[i];
}

DVP_VECTOR_CLONES
void scale_columns_row(const std::uint16_t* s, const std::uint16_t* scales, std::uint16_t* d, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) d[i] = to_bf16(from_bf16(s[i]) * from_fp16(scales[i]));
}

float absolute_sum(const std::uint16_t* s, std::uint32_t n) {
  float sum = 0.0f;
  for (std::uint32_t i = 0; i < n; ++i) sum = add(sum, magnitude(from_bf16(s[i])));
  return sum;
}

DVP_VECTOR_CLONES
void low_rank_row(const std::uint16_t* coefficients, const std::uint16_t* basis, std::uint32_t rank, float scale,
                  const float* codes, float* x, std::uint32_t n) {
  for (std::uint32_t i = 0; i < n; ++i) x[i] = 0.0f;
  for (std::uint32_t k = 0; k < rank; ++k) {
    const float c = from_bf16(coefficients[k]);
    const std::uint16_t* u = basis + std::size_t{k} * n;
    for (std::uint32_t i = 0; i < n; ++i) x[i] = canonical(x[i] + c * from_bf16(u[i]));
  }
  if (codes == nullptr) return;
  for (std::uint32_t i = 0; i < n; ++i) x[i] = canonical(x[i] + scale * codes[i]);
}

DVP_VECTOR_CLONES
void update_row(channel_update mode, const float* gate, const float* up, std::uint16_t* gate_state,
                std::uint16_t* up_state, float scale, std::uint16_t* d, std::uint32_t n) {
  const channel_row row{gate, up, gate_state, up_state, d};
  if (mode.add_state) {
    mode.fresh ? row.update<true, true>(scale, n) : row.update<true, false>(scale, n);
  } else {
    mode.fresh ? row.update<false, true>(scale, n) : row.update<false, false>(scale, n);
  }
}

void expand_codes(std::span<const std::byte> packed, std::uint32_t precision, bool half_step, float* values,
                  std::uint32_t n) {
  const std::int32_t unit = half_step ? 1 << (8 - precision) : 1;
  const std::int32_t half = half_step ? unit / 2 : 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(code_at(packed, i, precision) * unit + half);
  }
}

void transpose_codes(const std::byte* s, std::size_t s_stride, std::uint32_t rows, std::uint32_t columns,
                     std::uint32_t precision, std::byte* d, std::size_t d_stride) {
  const std::uint32_t per_byte = 8 / precision;
  const std::uint32_t mask = (1u << precision) - 1;
  for (std::uint32_t c = 0; c < columns; ++c) {
    const std::byte* column = s + c / per_byte;
    const std::uint32_t from = c % per_byte * precision;
    for (std::uint32_t r = 0; r < rows; r += per_byte) {
      std::uint32_t bits = 0;
      for (std::uint32_t i = 0; i < per_byte && r + i < rows; ++i) {
        const auto code = std::to_integer<std::uint32_t>(column[(r + i) * s_stride]) >> from & mask;
        bits |= code << i * precision;
      }
      d[c * d_stride + r / per_byte] = static_cast<std::byte>(bits);
    }
  }
}

}  // namespace dvp::numerics
