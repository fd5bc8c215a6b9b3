// The command line of `dllm-vp compare`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dvp::platform {

struct compare_options {
  std::vector<std::string> configurations;  // as named: "fixed", "mine.json", "fixed:decode.cache=dual"
  std::vector<std::string> overrides;       // of all of them
  std::vector<std::string> run_arguments;   // that every run gets: "--model", "tiny-llada", ...
  std::string out;                          // folder; empty: nothing is kept
  std::uint32_t jobs = 1;                   // runs at a time
  bool help = false;
};

// usage_error naming the option and what it takes. Values of the run's own options are looked at later.
compare_options parse_compare_options(const std::vector<std::string>& arguments);

std::string compare_help();

}  // namespace dvp::platform
