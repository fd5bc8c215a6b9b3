#include "tlm/platform/profile/stairs.h"

#include <algorithm>

namespace dvp::platform {

std::uint32_t raise_to_monotone(std::vector<std::uint32_t>& ns) {
  std::uint32_t raised = 0;
  for (std::size_t i = 1; i < ns.size(); ++i) {
    raised += ns[i] < ns[i - 1] ? 1 : 0;
    ns[i] = std::max(ns[i], ns[i - 1]);
  }
  return raised;
}

std::vector<gen::latency_entry> make_stairs(const std::vector<std::uint32_t>& ns, double tolerance, std::size_t most) {
  std::vector<gen::latency_entry> stairs;
  double shortest = 0;
  for (std::size_t i = 0; i < ns.size(); ++i) {
    const gen::latency_entry here{static_cast<std::uint32_t>(i + 1), ns[i]};
    if (stairs.empty() || ns[i] > shortest * (1 + tolerance)) {
      shortest = ns[i];
      stairs.push_back(here);
    } else {
      stairs.back() = here;
    }
  }
  constexpr double least_tolerance = 1e-4;
  return stairs.size() <= most ? stairs : make_stairs(ns, std::max(2 * tolerance, least_tolerance), most);
}

}  // namespace dvp::platform
