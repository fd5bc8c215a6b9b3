// The generated files and the file system.
#pragma once

#include <filesystem>
#include <ostream>
#include <vector>

#include "gen/npugen/render.h"

namespace dvp::npugen {

// Makes `directory` hold exactly `files`: a file that is there with the same text keeps its time stamp, another is
// replaced in one step (written beside its place, then renamed), and a file of an earlier run that is no longer
// generated is removed. Files that npugen did not write stay. Throws std::filesystem::filesystem_error or
// std::runtime_error where the file system refuses.
void write_files(const std::filesystem::path& directory, const std::vector<rendered_file>& files);

// Compares `files` with what `directory` holds and reports each missing, different (first differing line of both) or
// left-over file on `report`. Returns the number of differences.
int compare_files(const std::filesystem::path& directory, const std::vector<rendered_file>& files,
                  std::ostream& report);

}  // namespace dvp::npugen
