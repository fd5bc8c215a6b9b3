// The points of a sweep as runs, each with the key its results are found by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/platform/sweep/spec.h"

namespace dvp::platform::sweep {

// Why `dllm-vp run` would refuse a point; sentence empty when it would not.
struct refusal {
  std::string sentence;
  int code = 0;  // its exit code
};

struct sweep_point {
  assignment parameters;
  std::vector<std::string> arguments;  // of dllm-vp run, --quiet and --out apart
  std::string key;                     // SHA-256 of everything the figures depend on: see README.md
  std::uint64_t seed = 0;
  refusal refused;
};

// usage_error, with the first point's sentence, when all of them would be refused.
std::vector<sweep_point> make_points(const sweep_spec& spec, const std::vector<assignment>& chosen,
                                     const std::string& file);

}  // namespace dvp::platform::sweep
