// The command line of `dllm-vp profile`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/data_choice.h"

namespace dvp::platform {

struct profile_options {
  std::string config = "reference";
  std::vector<std::string> overrides;  // path=value
  std::string model = "tiny-llada";
  data_choice data = data_choice::real;
  std::optional<std::uint32_t> layers;
  std::vector<std::uint32_t> keys{96, 128, 192, 256, 384, 512};  // ascending; as many of them as the context holds
  bool keys_given = false;
  std::uint32_t rows = 96;
  double tolerance = 0.1;
  std::string out;  // empty: beside the configuration, or here if it is a shipped one
  bool help = false;
};

// usage_error naming the option and what it takes.
profile_options parse_profile_options(const std::vector<std::string>& arguments);

std::string profile_help();

}  // namespace dvp::platform
