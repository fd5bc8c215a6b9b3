// What is compared: configurations with changes, each as arguments of `dllm-vp run`.
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/compare/options.h"

namespace dvp::platform {

struct compare_point {
  std::string name;                    // in tables; no two points have the same
  std::string folder;                  // of its results, below --out; no two points have the same
  std::vector<std::string> arguments;  // of dllm-vp run, --out apart
};

// One point for each configuration named, in order; a name that comes again gets a number. Everything about every point
// is checked as `dllm-vp run` would: usage_error, which names the point where that is not clear, or loader::load_error.
std::vector<compare_point> make_points(const compare_options& options);

}  // namespace dvp::platform
