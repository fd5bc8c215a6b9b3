#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "tlm/platform/commands.h"
#include "tlm/platform/compare/comparison.h"
#include "tlm/platform/compare/merge_timelines.h"
#include "tlm/platform/compare/processes.h"
#include "tlm/platform/compare/run_result.h"
#include "tlm/platform/compare/table.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

// The folder of --out, or one that is gone in the end.
class result_folder {
 public:
  explicit result_folder(const std::string& given) : path_(given), temporary_(given.empty()) {
    if (temporary_) {
      std::string pattern = (fs::temp_directory_path() / "dllm-vp-compare-XXXXXX").string();
      if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern + ": cannot be made a folder");
      path_ = pattern;
      return;
    }
    make_folder(given);
    for (const char* name : {"compare.json", "summary.txt", "timeline.json"}) fs::remove(path_ / name);
  }
  result_folder(const result_folder&) = delete;
  result_folder& operator=(const result_folder&) = delete;
  ~result_folder() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
  }

  const fs::path& path() const { return path_; }
  bool kept() const { return !temporary_; }

 private:
  fs::path path_;
  bool temporary_;
};

void refuse_inputs_in_place_of_results(const compare_options& options, const std::vector<compare_point>& points) {
  std::error_code ignored;
  for (const auto& point : points) {
    const fs::path folder = fs::path(options.out) / point.folder;
    if (!options.out.empty() && fs::exists(folder, ignored) && !fs::is_directory(folder, ignored)) {
      throw usage_error(folder.string() + ": is not a folder, and the results of " + point.name +
                        " go there; move it or give another --out");
    }
  }
}

std::vector<process_plan> make_plans(const std::vector<compare_point>& points, const fs::path& folder) {
  std::vector<process_plan> plans;
  for (const auto& point : points) {
    const fs::path own = folder / point.folder;
    fs::create_directories(own);
    process_plan plan{{"run"}, (own / "log.txt").string()};
    plan.arguments.insert(plan.arguments.end(), point.arguments.begin(), point.arguments.end());
    plan.arguments.push_back("--out=" + own.string());
    plans.push_back(std::move(plan));
  }
  return plans;
}

void merge(const std::vector<compare_point>& points, const fs::path& folder) {
  std::vector<named_timeline> timelines;
  std::error_code ignored;
  for (const auto& point : points) {
    const fs::path path = folder / point.folder / "timeline.json";
    if (fs::exists(path, ignored)) timelines.push_back({point.name, path.string()});
  }
  if (!timelines.empty()) merge_timelines(timelines, (folder / "timeline.json").string());
}

std::string progress(std::size_t done, std::size_t of, const std::string& name, const process_end& end) {
  char text[64];
  std::snprintf(text, sizeof text, "[%zu/%zu] ", done, of);
  std::string line = text + name;
  std::snprintf(text, sizeof text, "   %.1f s wall", end.wall_seconds);
  return line + (end.code == 0 ? text : "   failed") + "\n";
}

}  // namespace

int compare_command(const std::vector<std::string>& arguments) {
  const compare_options options = parse_compare_options(arguments);
  if (options.help) {
    std::cout << compare_help();
    return exit_ok;
  }
  const std::vector<compare_point> points = make_points(options);
  refuse_inputs_in_place_of_results(options, points);
  const result_folder folder(options.out);

  std::size_t done = 0;
  const auto ends =
      run_processes(make_plans(points, folder.path()), options.jobs, [&](std::size_t index, const process_end* end) {
        if (end == nullptr) return;
        std::cout << progress(++done, points.size(), points[index].name, *end) << std::flush;
      });
  std::vector<run_result> results;
  for (std::size_t i = 0; i < points.size(); ++i) {
    results.push_back(read_result(folder.path() / points[i].folder, ends[i]));
  }

  const ordered_json comparison = make_comparison(points, results);
  const std::string table = comparison_table(comparison);
  std::cout << '\n' << table;
  if (folder.kept()) {
    merge(points, folder.path());
    write_text(folder.path() / "compare.json", comparison.dump(2) + "\n");
    write_text(folder.path() / "summary.txt", table);
    std::cout << "written  " << (folder.path() / "compare.json").string() << "   "
              << (folder.path() / "summary.txt").string() << "   " << (folder.path() / "timeline.json").string()
              << " (open in ui.perfetto.dev)\n";
  }
  const bool all = std::all_of(results.begin(), results.end(), [](const run_result& r) { return r.trouble.empty(); });
  return all ? exit_ok : exit_fault;
}

}  // namespace dvp::platform
