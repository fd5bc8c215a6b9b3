// One run as the page shows it.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// {"name", "folder", "stats", "answers", "scores", "derivations", "assumptions", "timeline", "roofline", "plan",
//  "forwards"}: `stats` without its answers, which are in `answers`, the first 500, in what a table shows of them.
// What a run did not leave beside its stats.json (timeline, plan, trajectory) is null. usage_error for a file that is
// there and cannot be read.
nlohmann::ordered_json run_part(const std::string& name, const std::filesystem::path& folder,
                                const nlohmann::ordered_json& stats);

}  // namespace dvp::platform
