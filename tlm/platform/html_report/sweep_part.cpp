#include "tlm/platform/html_report/sweep_part.h"

#include "tlm/platform/sweep/store.h"
#include "tlm/platform/sweep/table.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_points = 5000;

ordered_json point_of(const sweep::table_row& row) {
  ordered_json point = {{"ordinal", row.ordinal}, {"parameters", row.parameters}, {"state", row.state}};
  if (!row.reason.empty()) point["reason"] = row.reason;
  point["values"] = ordered_json::array();
  for (const auto& value : row.values) point["values"].push_back(value ? ordered_json(*value) : ordered_json());
  return point;
}

ordered_json part_of(const sweep::sweep_table& table) {
  ordered_json part;
  part["name"] = table.name;
  part["parameters"] = table.parameters;
  part["objectives"] = ordered_json::array();
  for (const auto& objective : table.objectives) {
    part["objectives"].push_back(
        {{"figure", objective.figure}, {"goal", objective.maximise ? "max" : "min"}, {"kind", objective.kind}});
  }
  part["points"] = ordered_json::array();
  for (const auto& row : table.rows) {
    if (part["points"].size() == most_points) break;
    part["points"].push_back(point_of(row));
  }
  part["points_left_out"] = table.rows.size() - part["points"].size();
  return part;
}

}  // namespace

ordered_json sweep_parts(const std::filesystem::path& database) {
  sweep::store results(database.string(), false);
  std::vector<std::int64_t> numbers;
  sweep::statement all = results.database().prepare("SELECT id FROM sweep ORDER BY id");
  while (all.step()) numbers.push_back(all.whole(0));
  ordered_json parts = ordered_json::array();
  for (const std::int64_t number : numbers) {
    ordered_json part = part_of(sweep::read_table(results, number));
    part["file"] = database.string();
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace dvp::platform
