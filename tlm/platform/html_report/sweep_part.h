// The sweeps of a database as the page shows them.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace dvp::platform {

// [{"name", "file", "parameters": [names], "objectives": [{"figure", "goal": "min" | "max", "kind"}],
//   "points": [{"ordinal", "parameters", "state", "reason", "values": [by objective, null where there is none]}],
//   "points_left_out"}], the sweeps in the order in which they were made, at most 5000 points of each. usage_error for
//   a
// file that is no database of sweeps, or one of another version.
nlohmann::ordered_json sweep_parts(const std::filesystem::path& database);

}  // namespace dvp::platform
