// What the runs of a comparison cost, side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tlm/platform/compare/points.h"

namespace dvp::platform {

struct point_result {
  std::string trouble;           // one sentence; empty when the run ended well
  nlohmann::ordered_json stats;  // its stats.json; null when there is none
};

// Documented by tlm/platform/configs/compare.schema.json. Nothing in it depends on the host. Figures are per answer;
// ratios are to the first point, and left out when that one failed.
nlohmann::ordered_json make_comparison(const std::vector<compare_point>& points,
                                       const std::vector<point_result>& results);

}  // namespace dvp::platform
