#include "tlm/core/sim_time.h"

#include <cmath>

namespace dvp::core {

std::uint64_t picoseconds(const sc_core::sc_time& time) {
  static const double ps_per_unit = std::round(sc_core::sc_get_time_resolution().to_seconds() * 1e15) / 1e3;
  if (ps_per_unit == 1.0) return time.value();
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(time.value()) * ps_per_unit));
}

}  // namespace dvp::core
