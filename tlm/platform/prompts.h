// Where prompts come from: the command line, or a file of JSON lines {"id", "prompt", "answer"}.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tlm/platform/answer.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

// usage_error naming file and line for anything that is not such a line. limit 0: all.
std::vector<prompt> read_prompts(const std::filesystem::path& path, std::uint32_t limit);

// What is asked: the prompt's own tokens, else those of its text and the model's suffix. loader::encode_error for a
// character the model has no token for.
std::vector<std::uint32_t> tokens_of(const prompt& asked, const loaded_model& model);

}  // namespace dvp::platform
