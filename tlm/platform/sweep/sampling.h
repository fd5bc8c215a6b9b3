// Which points of a sweep's parameters are run.
#pragma once

#include <vector>

#include "tlm/platform/sweep/spec.h"

namespace dvp::platform::sweep {

// The points in order, constraints met:
//   grid             every combination; the last parameter changes fastest
//   list             those listed
//   random           so many drawn independently, those that do not meet the constraints drawn again
//   latin_hypercube  so many (fewer where constraints forbid some) such that each of as many equal parts of every
//                    parameter's range holds one of them before constraints
// Draws depend on the seed alone. usage_error, naming `file`, when there is none, or there are more than the limit and
// `accept` is not set, or more than can be held at all.
std::vector<assignment> choose_points(const sweep_spec& spec, const std::string& file, bool accept);

}  // namespace dvp::platform::sweep
