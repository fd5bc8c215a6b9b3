#include "tlm/platform/sweep/point_run.h"

#include <stdlib.h>

#include <stdexcept>

#include "tlm/platform/compare/run_result.h"

namespace dvp::platform::sweep {

namespace fs = std::filesystem;

scratch_folder::scratch_folder() {
  std::string pattern = (fs::temp_directory_path() / "dllm-vp-sweep-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": cannot be made a folder");
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void point_runs::start(const claimed_point& point) {
  const fs::path own = folder_.path() / std::to_string(keys_.size());
  fs::create_directory(own);
  process_plan plan{{"run", "--quiet", "--timeline-prompts=0", "--out=" + own.string()}, (own / "log.txt").string()};
  plan.arguments.insert(plan.arguments.end(), point.arguments.begin(), point.arguments.end());
  group_.start(plan, keys_.size());
  keys_.push_back(point.key);
}

std::optional<point_runs::ended> point_runs::reap() {
  const auto process = group_.reap();
  if (!process) return std::nullopt;
  const fs::path own = folder_.path() / std::to_string(process->index);
  run_result result = read_result(own, process->end);
  std::error_code ignored;
  fs::remove_all(own, ignored);
  return ended{keys_[process->index],
               {result.trouble, process->end.code, process->end.wall_seconds, std::move(result.stats)}};
}

}  // namespace dvp::platform::sweep
