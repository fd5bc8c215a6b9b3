#include "tlm/platform/sweep/point_run.h"

#include <stdlib.h>

#include <stdexcept>

#include "tlm/platform/compare/run_result.h"
#include "tlm/platform/files.h"
#include "tlm/platform/sweep/owner.h"

namespace dvp::platform::sweep {

namespace fs = std::filesystem;

namespace {

constexpr const char* start_of_name = "dllm-vp-sweep-";
constexpr const char* owner_file = "owner.json";

// Folders of programs that were killed.
void remove_orphans(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const fs::path owner = entry->path() / owner_file;
    if (!entry->path().filename().string().starts_with(start_of_name) || !fs::exists(owner, ignored)) continue;
    if (!may_be_alive(read_text(owner))) fs::remove_all(entry->path(), ignored);
  }
}

}  // namespace

scratch_folder::scratch_folder() {
  const fs::path parent = fs::temp_directory_path();
  remove_orphans(parent);
  std::string pattern = (parent / (std::string(start_of_name) + "XXXXXX")).string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": cannot be made a folder");
  path_ = pattern;
  write_text(path_ / owner_file, own_identity());
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
