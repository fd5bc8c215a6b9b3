// What the forwards of a run did, from its trajectory.json.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace dvp::platform {

// [{"id", "forwards": [{"kind", "rows", "commits", "prefix", "network"}]}], of the first 20 answers and the first 2000
// forwards of each; the last two where the run has them. usage_error naming file and place when it is no trajectory.
nlohmann::ordered_json view_forwards(const std::filesystem::path& file);

}  // namespace dvp::platform
