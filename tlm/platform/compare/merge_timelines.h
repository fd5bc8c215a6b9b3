// Timelines of several runs as one, to be looked at side by side.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform {

struct named_timeline {
  std::string name;  // put before the names of its processes
  std::string path;  // as core::timeline writes it
};

// Writes all events to `path`, each run's processes and tracks with numbers of their own, in order; all runs start at
// time 0. Line by line, so memory stays small. All or nothing; std::runtime_error naming the file that cannot be read
// or written, or the line that is not of a timeline.
void merge_timelines(const std::vector<named_timeline>& timelines, const std::string& path);

}  // namespace dvp::platform
