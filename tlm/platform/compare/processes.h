// Runs of this program as processes beside each other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace dvp::platform {

struct process_plan {
  std::vector<std::string> arguments;  // of this program
  std::string log;                     // file that gets what it prints
};

struct process_end {
  int code = 0;         // exit code, or 128 + the signal that ended it
  std::string trouble;  // why the code is not 0, one sentence
  double wall_seconds = 0;
};

// Told as they start (end is null) and end, by the plan's index.
using process_watcher = std::function<void(std::size_t index, const process_end* end)>;

// Runs all, at most `jobs` at a time, in order of the plans, and returns how each ended. A signal that asks this
// program to end (interruption.h) ends those under way; then std::runtime_error saying so. They also end when this
// program does.
std::vector<process_end> run_processes(const std::vector<process_plan>& plans, std::uint32_t jobs,
                                       const process_watcher& watch);

}  // namespace dvp::platform
