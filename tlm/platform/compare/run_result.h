// What a run of this program in a process of its own came to.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tlm/platform/compare/processes.h"

namespace dvp::platform {

struct run_result {
  std::string trouble;           // one sentence; empty when the run ended well
  nlohmann::ordered_json stats;  // its stats.json; null when there is none
};

// Of a run with --out `folder` that ended so. One that did not answer every prompt has no figures.
run_result read_result(const std::filesystem::path& folder, const process_end& end);

}  // namespace dvp::platform
