#include "tlm/platform/compare/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <stdexcept>

#include "tlm/platform/interruption.h"

namespace dvp::platform {

namespace {

using clock = std::chrono::steady_clock;

constexpr int cannot_start = 127;
constexpr useconds_t between_looks_us = 10'000;

struct running {
  std::size_t index = 0;
  clock::time_point begin;
};

// Between fork and exec: only what a signal handler may call too.
[[noreturn]] void become(char* const* arguments, int log) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv("/proc/self/exe", arguments);
  _exit(cannot_start);
}

pid_t start(const process_plan& plan) {
  const int log = open(plan.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (log < 0) throw std::runtime_error(plan.log + ": cannot be written: " + std::strerror(errno));
  std::string self = "dllm-vp";
  std::vector<std::string> copies = plan.arguments;
  std::vector<char*> arguments{self.data()};
  for (auto& argument : copies) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) become(arguments.data(), log);
  const int why = errno;
  close(log);
  if (child < 0) throw std::runtime_error(std::string("no process can be started: ") + std::strerror(why));
  return child;
}

// The last sentence that the program wrote about itself.
std::string last_complaint(const std::string& log) {
  constexpr std::string_view mark = "dllm-vp: ";
  std::ifstream lines(log);
  std::string complaint;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(mark)) complaint = line.substr(mark.size());
  }
  return complaint;
}

process_end end_of(const process_plan& plan, int status, clock::time_point begin) {
  process_end end;
  end.wall_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (end.code == 0) return end;
  end.trouble = last_complaint(plan.log);
  if (end.trouble.empty() && WIFSIGNALED(status))
    end.trouble = "signal " + std::to_string(WTERMSIG(status)) + " ended it";
  return end;
}

// Those under way; ends them when it goes.
class process_group {
 public:
  process_group() = default;
  process_group(const process_group&) = delete;
  process_group& operator=(const process_group&) = delete;
  ~process_group() {
    for (const auto& [pid, what] : running_) kill(pid, SIGTERM);
    for (const auto& [pid, what] : running_) {
      while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }

  void add(pid_t pid, std::size_t index) { running_[pid] = {index, clock::now()}; }
  std::size_t size() const { return running_.size(); }

  // The next one that has ended: true with its status; false when none has.
  bool reap(running& which, int& status) {
    for (const auto& [pid, what] : running_) {
      if (waitpid(pid, &status, WNOHANG) != pid) continue;
      which = what;
      running_.erase(pid);
      return true;
    }
    return false;
  }

 private:
  std::map<pid_t, running> running_;
};

}  // namespace

std::vector<process_end> run_processes(const std::vector<process_plan>& plans, std::uint32_t jobs,
                                       const process_watcher& watch) {
  const interruption signals;
  std::vector<process_end> ends(plans.size());
  process_group group;
  for (std::size_t next = 0; next < plans.size() || group.size() != 0;) {
    if (interruption::asked()) throw std::runtime_error(interruption::name() + " ended the comparison");
    while (next < plans.size() && group.size() < jobs) {
      group.add(start(plans[next]), next);
      watch(next++, nullptr);
    }
    running which;
    int status = 0;
    if (!group.reap(which, status)) {
      usleep(between_looks_us);
      continue;
    }
    ends[which.index] = end_of(plans[which.index], status, which.begin);
    watch(which.index, &ends[which.index]);
  }
  return ends;
}

}  // namespace dvp::platform
