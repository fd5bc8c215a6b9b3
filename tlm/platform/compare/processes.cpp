#include "tlm/platform/compare/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "tlm/platform/interruption.h"

namespace dvp::platform {

namespace {

using clock = std::chrono::steady_clock;

constexpr int cannot_start = 127;

// Between fork and exec: only what a signal handler may call too.
[[noreturn]] void become(char* const* arguments, int log) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  execv("/proc/self/exe", arguments);
  _exit(cannot_start);
}

pid_t start_process(const process_plan& plan) {
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

process_end end_of(const std::string& log, int status, clock::time_point begin) {
  process_end end;
  end.wall_seconds = std::chrono::duration<double>(clock::now() - begin).count();
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (end.code == 0) return end;
  end.trouble = last_complaint(log);
  if (end.trouble.empty() && WIFSIGNALED(status))
    end.trouble = "signal " + std::to_string(WTERMSIG(status)) + " ended it";
  return end;
}

}  // namespace

process_group::~process_group() {
  for (const auto& [pid, what] : running_) kill(pid, SIGTERM);
  for (const auto& [pid, what] : running_) {
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
}

void process_group::start(const process_plan& plan, std::size_t index) {
  running_[start_process(plan)] = {index, plan.log, clock::now()};
}

std::optional<process_group::ended> process_group::reap() {
  for (const auto& [pid, what] : running_) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) != pid) continue;
    ended result{what.index, end_of(what.log, status, what.begin)};
    running_.erase(pid);
    return result;
  }
  return std::nullopt;
}

std::vector<process_end> run_processes(const std::vector<process_plan>& plans, std::uint32_t jobs,
                                       const process_watcher& watch) {
  const interruption signals;
  std::vector<process_end> ends(plans.size());
  process_group group;
  for (std::size_t next = 0; next < plans.size() || group.size() != 0;) {
    if (interruption::asked()) throw std::runtime_error(interruption::name() + " ended the comparison");
    while (next < plans.size() && group.size() < jobs) {
      group.start(plans[next], next);
      watch(next++, nullptr);
    }
    const auto ended = group.reap();
    if (!ended) {
      std::this_thread::sleep_for(between_looks);
      continue;
    }
    ends[ended->index] = ended->end;
    watch(ended->index, &ended->end);
  }
  return ends;
}

}  // namespace dvp::platform
