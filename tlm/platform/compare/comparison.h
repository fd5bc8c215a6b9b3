// What the runs of a comparison cost, side by side.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tlm/platform/compare/points.h"
#include "tlm/platform/compare/run_result.h"

namespace dvp::platform {

// Documented by tlm/platform/configs/compare.schema.json. Nothing in it depends on the host. Figures are per answer;
// ratios are to the first point, and left out when that one failed.
nlohmann::ordered_json make_comparison(const std::vector<compare_point>& points,
                                       const std::vector<run_result>& results);

}  // namespace dvp::platform
