// Everything the page shows, as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace dvp::platform {

// {"title", "version", "runs": [run_part.h], "comparisons": [{"name", "comparison"}], "sweeps": [sweep_part.h],
// "published": [published_part.h]}. The points of a comparison whose own results are still there are among the runs.
// usage_error as open_report_input.
nlohmann::ordered_json report_document(const std::vector<std::string>& inputs, const std::string& title);

}  // namespace dvp::platform
