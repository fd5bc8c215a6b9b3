#include "tlm/platform/sweep/batch.h"

#include "tlm/platform/files.h"
#include "tlm/platform/revision.h"
#include "tlm/platform/version.h"

namespace dvp::platform::sweep {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

std::string build() {
  return std::string(version) + " " + revision();
}

fs::path result_file(const fs::path& folder, const std::string& key) {
  return folder / "results" / (key + ".json");
}

ordered_json parse(const fs::path& path) {
  ordered_json document = ordered_json::parse(read_text(path), nullptr, false);
  if (document.is_discarded()) throw usage_error(path.string() + ": is not JSON; start the sweep again");
  return document;
}

}  // namespace

std::size_t write_batch(const fs::path& folder, const std::vector<claimed_point>& points, std::size_t each) {
  fs::create_directories(folder / "points");
  fs::create_directories(folder / "results");
  std::size_t tasks = 0;
  for (std::size_t first = 0; first < points.size(); first += each) {
    ordered_json list = ordered_json::array();
    for (std::size_t i = first; i < std::min(points.size(), first + each); ++i) {
      list.push_back({{"key", points[i].key}, {"arguments", points[i].arguments}});
    }
    write_text(folder / "points" / (std::to_string(tasks++) + ".json"), list.dump() + "\n");
  }
  write_text(folder / "batch.json", ordered_json{{"build", build()}}.dump() + "\n");
  return tasks;
}

std::vector<claimed_point> read_task(const fs::path& folder, std::size_t task) {
  const ordered_json batch = parse(folder / "batch.json");
  if (batch.value("build", "") != build()) {
    throw usage_error((folder / "batch.json").string() + ": was written by " + batch.value("build", "another program") +
                      " and this is " + build() + "; start the sweep again with this one");
  }
  std::vector<claimed_point> points;
  std::error_code ignored;
  for (const auto& p : parse(folder / "points" / (std::to_string(task) + ".json"))) {
    claimed_point point{p["key"], p["arguments"]};
    if (!fs::exists(result_file(folder, point.key), ignored)) points.push_back(std::move(point));
  }
  return points;
}

void write_result(const fs::path& folder, const std::string& key, const outcome& result) {
  const ordered_json document = {
      {"reason", result.reason}, {"exit_code", result.exit_code}, {"seconds", result.seconds}, {"stats", result.stats}};
  write_text(result_file(folder, key), document.dump() + "\n");
}

std::vector<std::string> keys_with_results(const fs::path& folder) {
  std::vector<std::string> keys;
  std::error_code error;
  for (fs::directory_iterator entry(folder / "results", error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") keys.push_back(entry->path().stem().string());
  }
  return keys;
}

std::optional<outcome> read_result_of(const fs::path& folder, const std::string& key) {
  try {
    const ordered_json d = parse(result_file(folder, key));
    return outcome{d.at("reason"), d.at("exit_code"), d.at("seconds"), d.at("stats")};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace dvp::platform::sweep
