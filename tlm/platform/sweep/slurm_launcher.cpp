#include "tlm/platform/sweep/slurm_launcher.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "tlm/platform/file_digest.h"
#include "tlm/platform/files.h"
#include "tlm/platform/interruption.h"
#include "tlm/platform/sweep/batch.h"
#include "tlm/platform/sweep/client.h"
#include "tlm/platform/sweep/owner.h"
#include "tlm/platform/sweep/point_run.h"

namespace dvp::platform::sweep {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using clock = std::chrono::steady_clock;

constexpr std::chrono::seconds between_questions{1};
constexpr std::chrono::seconds longest_silence{60};
constexpr int most_submissions = 3;        // of one point
constexpr std::size_t usual_array = 1001;  // MaxArraySize where Slurm does not tell: its own default

// A job array of this program, by the name that it has in Slurm's queue: known before Slurm has taken it, so that one
// submitted by a program that was killed at that moment is found as well.
struct submission {
  std::string name;
  fs::path folder;

  std::string owner() const { return ordered_json{{"slurm", name}, {"folder", folder.string()}}.dump(); }
};

std::optional<submission> submission_of(const std::string& owner) {
  const ordered_json o = ordered_json::parse(owner, nullptr, false);
  if (!o.is_object() || !o.contains("slurm") || !o.contains("folder")) return std::nullopt;
  return submission{o["slurm"], o["folder"].get<std::string>()};
}

std::string in_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The tasks an array may have.
std::size_t largest_array() {
  const client_answer config = ask_client({"scontrol", "show", "config"});
  const std::string key = "MaxArraySize";
  std::size_t at = config.output.find(key), size = 0;
  if (at != std::string::npos) at = config.output.find_first_of("0123456789", at);
  if (at == std::string::npos) return usual_array;
  std::from_chars(config.output.data() + at, config.output.data() + config.output.size(), size);
  return size < 2 ? usual_array : size - 1;
}

class slurm_sweep {
 public:
  slurm_sweep(store& results, std::int64_t sweep, const slurm_options& options)
      : results_(&results), sweep_(sweep), options_(&options) {}

  // Takes over what there is, gives back what is lost; the number of points that ended.
  std::uint64_t collect() {
    std::uint64_t finished = 0;
    for (const auto& owner : results_->owners(sweep_)) {
      const auto job = submission_of(owner);
      if (!job) continue;
      folders_.insert(job->folder);
      const bool gone = !queued(*job);  // before the results are read: a task may end in between
      finished += take_over(*job);
      if (gone) give_back(*job);
    }
    return finished;
  }

  // All points have ended, so tasks that are left, put back by Slurm after their last point, have nothing to do. Nor
  // does anybody need the files any more, but to look why tasks ended early.
  void clean_up() const {
    std::error_code ignored;
    for (const auto& folder : folders_) {
      ask_client({"scancel", "--name=" + folder.filename().string()});
      if (!given_up_) fs::remove_all(folder, ignored);
    }
  }

  void submit_waiting() {
    const submission job = new_submission();
    const std::vector<claimed_point> points = results_->claim_all(sweep_, job.owner());
    if (points.empty()) return;
    try {
      submit(job, points);
    } catch (...) {
      results_->release(job.owner());
      throw;
    }
    heard_ = clock::now();
    for (const auto& point : points) ++submissions_[point.key];
  }

 private:
  submission new_submission() const {
    const std::string now = std::to_string(std::chrono::system_clock::now().time_since_epoch().count());
    const std::string name = "dllm-vp-sweep-" + text_digest(own_identity() + now).substr(0, 12);
    return {name, fs::absolute(options_->folder) / name};
  }

  void submit(const submission& job, const std::vector<claimed_point>& points) const {
    const std::size_t least = (points.size() + largest_array() - 1) / largest_array();
    const std::size_t tasks = write_batch(job.folder, points, std::max<std::size_t>(options_->chunk, least));
    const fs::path script = job.folder / "task.sh";
    write_text(script, "#!/bin/sh\nexec " + in_shell(fs::read_symlink("/proc/self/exe").string()) + " sweep --task " +
                           in_shell(job.folder.string()) + "\n");
    std::vector<std::string> command{"sbatch",
                                     "--parsable",
                                     "--requeue",
                                     "--job-name=" + job.name,
                                     "--array=0-" + std::to_string(tasks - 1),
                                     "--chdir=" + fs::current_path().string(),
                                     "--output=" + (job.folder / "task-%a.log").string()};
    command.insert(command.end(), options_->sbatch.begin(), options_->sbatch.end());
    command.push_back(script.string());
    const client_answer answer = ask_client(command);
    if (answer.code != 0) throw std::runtime_error("sbatch takes no job: " + answer.complaint);
  }

  // Whether Slurm still has tasks of the job, waiting or at work. Taken for true while Slurm does not answer.
  bool queued(const submission& job) {
    const client_answer answer = ask_client({"squeue", "--noheader", "--name=" + job.name, "--format=%i"});
    if (answer.code == 0) {
      heard_ = clock::now();
      return !answer.output.empty();
    }
    if (clock::now() - heard_ > longest_silence) {
      throw std::runtime_error("squeue does not answer: " + answer.complaint + "; the same command goes on later");
    }
    return true;
  }

  std::uint64_t take_over(const submission& job) {
    std::uint64_t taken = 0;
    for (const auto& key : keys_with_results(job.folder)) {
      if (taken_.contains(job.name + key)) continue;
      const std::optional<outcome> result = read_result_of(job.folder, key);
      if (!result) continue;
      results_->finish(key, *result);
      taken_.insert(job.name + key);
      ++taken;
    }
    return taken;
  }

  void give_back(const submission& job) {
    for (const auto& key : results_->points_of(job.owner())) {
      if (submissions_[key] < most_submissions) continue;
      given_up_ = true;
      results_->finish(key, {"its Slurm task ended " + std::to_string(most_submissions) +
                                 " times without a result; see the logs in " + job.folder.string(),
                             0, 0, nullptr});
    }
    results_->release(job.owner());
  }

  store* results_;
  std::int64_t sweep_;
  const slurm_options* options_;
  std::map<std::string, int> submissions_;  // by point
  std::set<std::string> taken_;             // results, by job and point
  clock::time_point heard_ = clock::now();
  std::set<fs::path> folders_;  // of jobs whose points this has waited for
  bool given_up_ = false;       // some point never had a result
};

}  // namespace

void require_slurm() {
  for (const char* program : {"sbatch", "scancel", "scontrol", "squeue"}) {
    if (ask_client({program, "--version"}).code != 127) continue;
    throw usage_error(std::string("--launcher slurm: there is no ") + program +
                      " here; install Slurm's client programs (Debian: slurm-client) on a machine of the cluster");
  }
}

void run_on_slurm(store& results, std::int64_t sweep, const slurm_options& options, progress& shown) {
  const interruption signals;
  slurm_sweep jobs(results, sweep, options);
  std::uint64_t finished = 0;
  while (true) {
    results.release_dead();
    finished += jobs.collect();
    const state_counts counts = results.count(sweep);
    shown.show(counts, finished);
    if (counts.waiting == 0 && counts.running == 0) {
      jobs.clean_up();
      return;
    }
    if (interruption::asked()) {
      throw std::runtime_error(interruption::name() +
                               " ended the wait, the jobs go on; the same command takes their results over");
    }
    if (counts.waiting != 0) jobs.submit_waiting();
    std::this_thread::sleep_for(between_questions);
  }
}

void run_task(const std::string& folder, std::size_t number, std::uint32_t jobs) {
  const interruption signals;
  const std::vector<claimed_point> points = read_task(folder, number);
  point_runs runs(jobs);
  for (std::size_t next = 0; next < points.size() || !runs.idle();) {
    if (interruption::asked()) throw std::runtime_error(interruption::name() + " ended the task");
    while (next < points.size() && !runs.full()) runs.start(points[next++]);
    if (const auto ended = runs.reap()) {
      write_result(folder, ended->key, ended->result);
    } else {
      std::this_thread::sleep_for(between_looks);
    }
  }
}

}  // namespace dvp::platform::sweep
