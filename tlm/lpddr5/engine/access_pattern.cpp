#include "tlm/lpddr5/engine/access_pattern.h"

#include <algorithm>
#include <cmath>

namespace dvp::lpddr5 {

namespace {

// Longer rows at a stride cost what end-to-end accesses cost.
constexpr std::uint64_t longest_row = std::uint64_t{1} << 12;

// Rows farther apart share nothing that a nearer one would not.
constexpr double widest_gap = 32;

// In quarters of an octave: 0 for rows one after another.
std::uint32_t gap_of(const access& a) {
  if (a.list == nullptr) return 0;
  const auto [first, last] = std::minmax_element(a.list, a.list + a.rows);
  const double spread = static_cast<double>(*last - *first) / (a.rows - 1);
  return spread <= 1 ? 0 : static_cast<std::uint32_t>(std::lround(4 * std::log2(std::min(spread, widest_gap))));
}

}  // namespace

access_pattern pattern_of(const access& a) {
  access_pattern p{.precision = a.precision, .tagged = a.tagged, .write = a.write};
  if (!a.is_block()) return p;
  const std::uint32_t gap = gap_of(a);
  if (gap == 0 && (a.row_bytes() == a.stride || a.row_bytes() > longest_row)) return p;
  p.bytes = a.row_bytes();
  p.stride = a.stride;
  p.gap = gap;
  return p;
}

}  // namespace dvp::lpddr5
