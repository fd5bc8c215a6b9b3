// Stages 1 and 2 in one call.
#pragma once

#include <filesystem>

#include "gen/npugen/model.h"

namespace dvp::npugen {

// Parses every file below `directory`, checks each against its JSON Schema in `directory`/schemas, then against the
// rules of validate.h. Throws spec_error at the first fault.
specification load(const std::filesystem::path& directory);

}  // namespace dvp::npugen
