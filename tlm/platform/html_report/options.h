// The command line of `dllm-vp report`.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform {

struct report_options {
  std::vector<std::string> inputs;  // see input.h
  std::string out;                  // the page
  std::string title;                // empty: made of the inputs
  bool help = false;
};

// usage_error naming the option and what it takes.
report_options parse_report_options(const std::vector<std::string>& arguments);

std::string report_help();

}  // namespace dvp::platform
