// The command line of `dllm-vp sweep`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tlm/platform/sweep/slurm_launcher.h"

namespace dvp::platform::sweep {

struct sweep_options {
  std::string spec;      // file; empty with --show
  std::string database;  // file
  std::uint32_t jobs = 1;
  bool slurm = false;  // run on a cluster
  slurm_options cluster;
  std::string task;        // folder of a batch of which to run a task; empty: none
  bool accept = false;     // more points than the limit
  bool retry = false;      // failed points
  bool take_over = false;  // points in work elsewhere
  bool show = false;       // what is in the database, and run nothing
  std::string which;       // of its sweeps: name or number; empty: the last
  bool csv = false;
  bool pareto = false;  // only points that no other point beats
  bool help = false;
};

// usage_error naming the option and what it takes.
sweep_options parse_sweep_options(const std::vector<std::string>& arguments);

std::string sweep_help();

}  // namespace dvp::platform::sweep
