// Which figures can be explained, and finding one by what a person calls it.
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/explain/explained_run.h"

namespace dvp::platform {

// The figures of a scope ("total", "answers.0") that have a formula, by dotted path.
std::vector<std::string> figures_with_formula(const explained_run& run, const std::string& scope);

// The derivation of a figure: a friendly name (latency, energy, ...), a dotted path of stats.json, or one below total
// without that word; answers go by number or id. A figure without formula is what it counts, a value of the
// configuration what is the reason for it. usage_error with the nearest names for what is neither.
derivation explain(const explained_run& run, const std::string& figure);

// Friendly names and the paths they stand for, a line each.
std::string friendly_names();

}  // namespace dvp::platform
