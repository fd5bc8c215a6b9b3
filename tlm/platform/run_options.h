// The command line of `dllm-vp run`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/cpu_options.h"
#include "tlm/platform/data_choice.h"

namespace dvp::platform {

enum class array_choice { model, rtl, both };

struct run_options {
  std::string config = "reference";
  std::vector<std::string> overrides;  // path=value
  std::string model = "tiny-fdllm2";
  std::vector<std::string> prompts;  // given one by one
  std::string prompt_file;           // JSON lines
  std::uint32_t limit = 0;           // of the prompts in the file; 0: all
  data_choice data = data_choice::real;
  std::string trajectory;                    // shape: file or shipped distribution
  std::vector<std::uint32_t> prompt_tokens;  // shape: prompts of so many tokens
  std::optional<std::uint32_t> layers;       // shape: instead of the model's
  bool replayable = false;                   // keep decisions in trajectory.json
  array_choice array = array_choice::model;
  std::optional<cpu_choice> seat;  // instead of the configuration's
  cpu_options cpu;
  std::uint32_t lockstep_every = 1;
  std::optional<std::uint32_t> generate_tokens;
  std::optional<std::uint32_t> steps;
  std::optional<std::uint32_t> context;
  std::optional<float> threshold;
  float temperature = 0;
  std::uint64_t seed = 1;
  bool stop_at_end = false;
  std::string out;  // folder for stats.json, timeline.json, trajectory.json, summary.txt; empty: none
  std::uint32_t timeline_prompts = 5;  // prompts on the timeline; a prompt takes 5 to 30 MB there. 0: no timeline
  std::string waves;                   // FST file; empty: none
  std::uint64_t waves_jobs = 16;       // array jobs recorded
  bool visual = false;
  bool quiet = false;
  bool help = false;
};

const char* name_of(array_choice choice);

// What the options change in the configuration, in order: path=value.
std::vector<std::string> overrides_of(const run_options& options);

// usage_error naming the option and what it takes.
run_options parse_run_options(const std::vector<std::string>& arguments);

std::string run_help();

}  // namespace dvp::platform
