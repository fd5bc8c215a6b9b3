// Where prompts come from: the command line, or a file of JSON lines {"id", "prompt", "answer"}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tlm/platform/answer.h"

namespace dvp::platform {

// usage_error naming file and line for anything that is not such a line. limit 0: all.
std::vector<prompt> read_prompts(const std::filesystem::path& path, std::uint32_t limit);

}  // namespace dvp::platform
