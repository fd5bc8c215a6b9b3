// The view descriptors a memory converts by, under the numbers that access tags name.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tlm/core/access_tag.h"
#include "tlm/numerics/converter.h"

namespace dvp::lpddr5 {

class view_table {
 public:
  // Id 0 is the midpoint view of either precision and cannot be replaced. False, and nothing changes, for id 0, a view
  // out of range or one of another precision than 4 and 2.
  bool set(std::uint16_t id, const numerics::view& v) {
    if (id == 0 || !numerics::is_valid(v) || (v.precision != 4 && v.precision != 2)) return false;
    views_.insert_or_assign(id, numerics::converter(v));
    return true;
  }

  // The converter of a q4 or q2 tag; null when its view is not set or has another precision.
  const numerics::converter* find(const core::access_tag& tag) const {
    const bool q4 = tag.precision == gen::precision::q4;
    if (tag.view == 0) return q4 ? &midpoint4_ : &midpoint2_;
    const auto found = views_.find(tag.view);
    if (found == views_.end() || found->second.descriptor().precision != (q4 ? 4 : 2)) return nullptr;
    return &found->second;
  }

 private:
  numerics::converter midpoint4_{numerics::view{4, numerics::view_mode::midpoint}};
  numerics::converter midpoint2_{numerics::view{2, numerics::view_mode::midpoint}};
  std::unordered_map<std::uint16_t, numerics::converter> views_;
};

}  // namespace dvp::lpddr5
