// A comparison for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// One line a point, and a sentence for each that failed. Columns that are 0 for all points are left out.
std::string comparison_table(const nlohmann::ordered_json& comparison);

}  // namespace dvp::platform
