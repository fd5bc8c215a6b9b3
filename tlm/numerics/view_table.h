// The views a memory converts by, under the numbers that reads name.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tlm/numerics/converter.h"

namespace dvp::numerics {

class view_table {
 public:
  static constexpr std::uint16_t count = 128;  // numbers 1 to count can be set

  // Whether a q4 or q2 read can use it: every field in its range, precision 4 or 2.
  static constexpr bool takes(const view& v) { return is_valid(v) && (v.precision == 4 || v.precision == 2); }

  // Number 0 is the midpoint view of either precision and cannot be replaced. False, and nothing changes, for a number
  // that is 0 or above count, and for a view it does not take.
  bool set(std::uint16_t number, const view& v) {
    if (number == 0 || number > count || !takes(v)) return false;
    views_[number - 1U].emplace(v);
    return true;
  }

  // The converter of a read of precision 4 or 2; null when its view is not set or has another precision.
  const converter* find(std::uint32_t precision, std::uint16_t number) const {
    if (number == 0) return precision == 4 ? &midpoint4_ : &midpoint2_;
    if (number > count || !views_[number - 1U] || views_[number - 1U]->descriptor().precision != precision) {
      return nullptr;
    }
    return &*views_[number - 1U];
  }

 private:
  converter midpoint4_{view{4, view_mode::midpoint}};
  converter midpoint2_{view{2, view_mode::midpoint}};
  std::array<std::optional<converter>, count> views_;
};

}  // namespace dvp::numerics
