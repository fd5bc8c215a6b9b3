// What a matrix product keeps in registers: block_vectors sums of block_columns binary32 values side by side; for the
// bodies of this folder only. Several chains of additions are in flight at a time. The shape changes speed, never bits.
#pragma once

#include <cstdint>

#include "tlm/numerics/fp32.h"
#include "tlm/numerics/lanes.h"

namespace dvp::numerics {

#if defined(__riscv) && !defined(__riscv_vector)

// 32 scalar registers: 16 sums, the 4 values of a row of columns, and what is multiplied on the way.
struct column_values {
  float a, b, c, d;
};
inline constexpr std::uint32_t block_columns = 4;
inline constexpr std::uint32_t block_vectors = 4;

[[gnu::always_inline]] inline column_values operator+(const column_values& x, const column_values& y) {
  return {x.a + y.a, x.b + y.b, x.c + y.c, x.d + y.d};
}
[[gnu::always_inline]] inline column_values operator*(const column_values& x, float y) {
  return {x.a * y, x.b * y, x.c * y, x.d * y};
}
[[gnu::always_inline]] inline void load(column_values& value, const float* from) {
  value = {from[0], from[1], from[2], from[3]};
}
[[gnu::always_inline]] inline void store_canonical(const column_values& value, float* to) {
  to[0] = canonical(value.a);
  to[1] = canonical(value.b);
  to[2] = canonical(value.c);
  to[3] = canonical(value.d);
}

#else

using column_values = lanes;
inline constexpr std::uint32_t block_columns = lane_count;
inline constexpr std::uint32_t block_vectors = 8;

#endif

}  // namespace dvp::numerics
