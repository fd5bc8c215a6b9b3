// What `dllm-vp report` is given, told apart by content: the results of a run, of a comparison, of a sweep,
// of scripts/published.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

enum class report_kind { run, comparison, sweep, published };

struct report_input {
  report_kind kind = report_kind::run;
  std::string name;                // as given
  std::filesystem::path file;      // stats.json, compare.json, the database or a document of scripts/published
  nlohmann::ordered_json content;  // checked against its schema; null for a database
};

// `path`: a folder that dllm-vp run or compare wrote with --out, one of its files stats.json and compare.json, the
// database of a sweep, or a document of scripts/published (configs/published.schema.json). usage_error naming the file
// for anything else: not there, truncated, foreign, of another version.
report_input open_report_input(const std::string& path);

// A stats.json, checked like that.
nlohmann::ordered_json read_stats(const std::filesystem::path& file);

}  // namespace dvp::platform
