// The firmware's swap plan as plan.txt shows it (../swap_table.h), as rectangles of device address over steps.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace dvp::platform {

// {"policy", "window_bytes", "dropped", "steps": [the operator of each],
//  "buffers": [{"how", "what", "first", "bytes", "from", "to"}]}
//
// A step is one buffer mapped or staged, in the plan's order; an operator may take many. A buffer is at device
// addresses [first, first + bytes) from step `from` up to before step `to`: a pinned one all the time, a mapped one as
// long as its operator lasts, a staged one until another takes its place. usage_error naming file and line when it is
// not a plan.
nlohmann::ordered_json view_plan(const std::filesystem::path& file);

}  // namespace dvp::platform
