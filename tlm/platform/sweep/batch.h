// A folder that a sweep shares with the machines of a cluster: what each task is to run, and what came out.
//
//   batch.json         by which build of the program
//   points/N.json      the points of task N
//   results/KEY.json   what became of a point
//
// Files appear whole, so that either side may be killed at any moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tlm/platform/sweep/store.h"

namespace dvp::platform::sweep {

// Writes the points as tasks of `each` points; the number of tasks. std::runtime_error naming the file.
std::size_t write_batch(const std::filesystem::path& folder, const std::vector<claimed_point>& points,
                        std::size_t each);

// Those of a task that have no result yet. usage_error when the folder is none or was written by another build of this
// program, whose figures may differ.
std::vector<claimed_point> read_task(const std::filesystem::path& folder, std::size_t task);

void write_result(const std::filesystem::path& folder, const std::string& key, const outcome& result);

// Keys of the points that have a result now.
std::vector<std::string> keys_with_results(const std::filesystem::path& folder);

// None when the file is not whole JSON of this form: its point is run again.
std::optional<outcome> read_result_of(const std::filesystem::path& folder, const std::string& key);

}  // namespace dvp::platform::sweep
