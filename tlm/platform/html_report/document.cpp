#include "tlm/platform/html_report/document.h"

#include "tlm/platform/figures.h"
#include "tlm/platform/html_report/input.h"
#include "tlm/platform/html_report/published_part.h"
#include "tlm/platform/html_report/run_part.h"
#include "tlm/platform/html_report/sweep_part.h"
#include "tlm/platform/version.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

void add_points(ordered_json& runs, const report_input& comparison) {
  const fs::path folder = folder_of(comparison.file);
  std::error_code ignored;
  for (const auto& point : comparison.content["points"]) {
    // One folder beside the file, nothing further away, whatever the file says.
    const fs::path own = folder / fs::path(text_at(point, "folder")).filename();
    if (own == folder || !fs::exists(own / "stats.json", ignored)) continue;
    runs.push_back(run_part(text_at(point, "name"), own, read_stats(own / "stats.json")));
  }
}

}  // namespace

ordered_json report_document(const std::vector<std::string>& inputs, const std::string& title) {
  ordered_json document;
  document["title"] = title;
  document["version"] = version;
  ordered_json runs = ordered_json::array(), comparisons = ordered_json::array(), sweeps = ordered_json::array(),
               published = ordered_json::array();
  for (const auto& path : inputs) {
    const report_input input = open_report_input(path);
    switch (input.kind) {
      case report_kind::run:
        runs.push_back(run_part(text_at(input.content, "configuration.name"), folder_of(input.file), input.content));
        break;
      case report_kind::comparison:
        comparisons.push_back({{"name", input.name}, {"comparison", input.content}});
        add_points(runs, input);
        break;
      case report_kind::sweep:
        for (auto& part : sweep_parts(input.file)) sweeps.push_back(std::move(part));
        break;
      case report_kind::published:
        published.push_back(published_part(input.name, input.content));
        break;
    }
  }
  document["runs"] = std::move(runs);
  document["comparisons"] = std::move(comparisons);
  document["sweeps"] = std::move(sweeps);
  document["published"] = std::move(published);
  return document;
}

}  // namespace dvp::platform
