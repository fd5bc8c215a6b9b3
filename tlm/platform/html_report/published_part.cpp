#include "tlm/platform/html_report/published_part.h"

#include "tlm/platform/html_report/survival.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

ordered_json ratio(const ordered_json& of, const ordered_json& to) {
  if (!of.is_number() || !to.is_number() || to == 0) return nullptr;
  return of.get<double>() / to.get<double>();
}

void add_gains(ordered_json& ladder) {
  ordered_json ours, theirs;
  for (const auto& rung : ladder["rungs"]) {
    if (rung["name"] != ladder["reference"]) continue;
    ours = rung["value"];
    theirs = rung["quoted"];
  }
  for (auto& rung : ladder["rungs"]) {
    rung["ratio"] = ratio(rung["value"], rung["quoted"]);
    rung["gain"] = ratio(ours, rung["value"]);
    rung["quoted_gain"] = ratio(theirs, rung["quoted"]);
  }
}

}  // namespace

ordered_json published_part(const std::string& name, ordered_json document) {
  document["name"] = name;
  for (auto& chart : document["charts"]) {
    if (chart["type"] == "waterfall") chart["survival"] = survival_of(chart);
    if (chart["type"] == "ladder") add_gains(chart);
    if (chart["type"] != "headline") continue;
    for (auto& row : chart["rows"]) row["ratio"] = ratio(row["ours"], row["theirs"]);
  }
  return document;
}

}  // namespace dvp::platform
