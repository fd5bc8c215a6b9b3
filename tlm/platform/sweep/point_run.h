// One point as a run of this program in a folder of its own.
#pragma once

#include <filesystem>
#include <string>

#include "tlm/platform/compare/processes.h"
#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

// A folder below the system's one for such things, gone with its contents in the end; where the program is killed, the
// next one removes it.
class scratch_folder {
 public:
  scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Points that are run beside each other, at most `jobs` at a time.
class point_runs {
 public:
  explicit point_runs(std::uint32_t jobs) : jobs_(jobs) {}

  bool full() const { return group_.size() >= jobs_; }
  bool idle() const { return group_.size() == 0; }
  void start(const claimed_point& point);

  struct ended {
    std::string key;
    outcome result;
  };
  std::optional<ended> reap();  // the next one that has ended; none when none has

 private:
  std::uint32_t jobs_;
  scratch_folder folder_;
  std::vector<std::string> keys_;  // of the points started, by the group's index
  process_group group_;            // last, so that it ends before its files go
};

}  // namespace dvp::platform::sweep
