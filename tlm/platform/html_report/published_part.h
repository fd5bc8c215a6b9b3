// A document of scripts/published as the page shows it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// The document (configs/published.schema.json, checked) with "name", and in its charts what follows from their figures:
// waterfalls with "survival" (survival.h), rows of a headline with "ratio" of ours to theirs, rungs of a ladder with
// "ratio", "gain" and "quoted_gain" over the rung named as reference; null where a figure is missing.
nlohmann::ordered_json published_part(const std::string& name, nlohmann::ordered_json document);

}  // namespace dvp::platform
