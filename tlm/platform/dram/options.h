// The command line of `dllm-vp dram`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/lpddr5/traffic/generators.h"
#include "tlm/lpddr5/traffic/trace_reader.h"

namespace dvp::platform {

enum class check_choice : std::uint8_t { automatic, on, off };

struct dram_options {
  std::string config = "lpddr5-6400-x16";
  std::vector<std::string> overrides;  // path=value
  std::string trace;                   // file; empty: generate
  std::optional<lpddr5::trace_format> format;
  std::optional<double> clock_mhz;  // of the trace; the memory's CK otherwise
  // The sizes left at 0 become what fits the memory.
  std::optional<lpddr5::pattern> generate;
  lpddr5::generator_options generator;
  std::optional<std::uint64_t> requests;
  std::optional<std::uint64_t> request_bytes;
  std::uint64_t outstanding = 0;    // 0: no limit
  std::optional<bool> stream_mode;  // absent: as the configuration says
  check_choice check = check_choice::automatic;
  std::string out;  // folder; empty: none
  bool commands = false;
  bool timeline = false;
  std::uint64_t timeline_commands = 100'000;
  bool golden = false;
  bool list = false;
  bool quiet = false;
  bool help = false;
};

// usage_error naming the option and what it takes.
dram_options parse_dram_options(const std::vector<std::string>& arguments);

std::string dram_help();

}  // namespace dvp::platform
