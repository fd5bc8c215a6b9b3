// Runs of this program as processes beside each other.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

// Processes under way. Those left are ended when it goes, and when this program does.
class process_group {
 public:
  process_group() = default;
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;
  ~process_group();

  // `index`: the caller's own number of it. std::runtime_error when no process can be started.
  void start(const process_plan& plan, std::size_t index);
  std::size_t size() const { return running_.size(); }

  struct ended {
    std::size_t index = 0;
    process_end end;
  };
  std::optional<ended> reap();  // the next one that has ended; none when none has

 private:
  struct running {
    std::size_t index = 0;
    std::string log;
    std::chrono::steady_clock::time_point begin;
  };
  std::map<pid_t, running> running_;
};

// How long to sleep between looks at a group.
constexpr std::chrono::milliseconds between_looks{10};

// Told as they start (end is null) and end, by the plan's index.
using process_watcher = std::function<void(std::size_t index, const process_end* end)>;

// Runs all, at most `jobs` at a time, in order of the plans, and returns how each ended. A signal that asks this
// program to end (interruption.h) ends those under way; then std::runtime_error saying so. They also end when this
// program does.
std::vector<process_end> run_processes(const std::vector<process_plan>& plans, std::uint32_t jobs,
                                       const process_watcher& watch);

}  // namespace dvp::platform
