#include "tlm/platform/html_report/published_check.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tlm/platform/files.h"
#include "tlm/platform/schema_check.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr const char* schema_file = "published.schema.json";

[[noreturn]] void fail(const std::string& place, const std::string& what) {
  throw usage_error(place + ": " + what + "; run scripts/published again");
}

void same_length(const ordered_json& values, const ordered_json& names, const std::string& place, const char* of) {
  if (values.size() == names.size()) return;
  fail(place, "has " + std::to_string(values.size()) + " values for " + std::to_string(names.size()) + " " + of);
}

void check_rows(const ordered_json& rows, const char* values, const ordered_json& names, const char* of,
                const std::string& place) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    same_length(rows[i][values], names, place + "." + std::to_string(i) + "." + values, of);
  }
}

void check_waterfall(const ordered_json& chart, const std::string& place) {
  const double last = chart["steps"].back()["value"], end = chart["end"]["value"];
  if (std::abs(last - end) > 1e-6 * std::max(last, end)) fail(place + ".end.value", "is not that of the last step");
}

void check_pairs(const ordered_json& chart, const std::string& place) {
  const ordered_json& choices = chart["choices"];
  for (std::size_t i = 0; i < chart["cells"].size(); ++i) {
    const ordered_json& cell = chart["cells"][i];
    const std::string here = place + ".cells." + std::to_string(i);
    for (const auto& [which, end] : {std::pair("a", "a_end"), std::pair("b", "b_end")}) {
      const std::uint64_t choice = cell[which], at = cell[end];
      if (choice >= choices.size())
        fail(here + "." + which, "there are " + std::to_string(choices.size()) + " choices");
      const std::size_t ends = choices[choice]["ends"].size();
      if (at >= ends)
        fail(here + "." + end, "choice " + std::to_string(choice) + " has " + std::to_string(ends) + " ends");
    }
    if (cell["a"] == cell["b"]) fail(here + ".b", "is the same choice as a");
  }
}

void check_break_even(const ordered_json& chart, const std::string& place) {
  for (std::size_t i = 0; i < chart["rows"].size(); ++i) {
    const ordered_json& row = chart["rows"][i];
    const std::string here = place + ".rows." + std::to_string(i);
    if ((row["verdict"] == "crosses") != row["value"].is_number()) {
      fail(here + ".value", "is there exactly where the verdict is crosses");
    }
    if (row["verdict"] != "crosses" || row["bracket"].is_null()) continue;
    const double low = row["bracket"][0], high = row["bracket"][1], value = row["value"];
    if (value < std::min(low, high) || value > std::max(low, high))
      fail(here + ".value", "lies outside of its bracket");
  }
}

void check_ladder(const ordered_json& chart, const std::string& place) {
  bool there = false;
  for (std::size_t i = 0; i < chart["rungs"].size(); ++i) {
    const ordered_json& rung = chart["rungs"][i];
    there = there || rung["name"] == chart["reference"];
    if (rung["value"].is_null() != rung["kind"].is_null()) {
      fail(place + ".rungs." + std::to_string(i) + ".kind", "is there exactly where value is");
    }
  }
  if (!there) fail(place + ".reference", "is none of the rungs");
}

void check_lists(const ordered_json& chart, const std::string& place) {
  const std::string type = chart["type"];
  if (type == "gains") check_rows(chart["groups"], "values", chart["series"], "series", place + ".groups");
  if (type == "stacked") check_rows(chart["bars"], "values", chart["parts"], "parts", place + ".bars");
  if (type == "waterfall") check_waterfall(chart, place);
  if (type == "pairs") check_pairs(chart, place);
  if (type == "break_even") check_break_even(chart, place);
  if (type == "ladder") check_ladder(chart, place);
}

// Each by its own part of the schema: the fault is one of that type of chart, not one of all types.
void check_charts(const ordered_json& document, const ordered_json& schema, const std::string& file) {
  if (!document.is_object() || !document.contains("charts") || !document["charts"].is_array()) return;
  const ordered_json& definitions = schema["definitions"];
  for (std::size_t i = 0; i < document["charts"].size(); ++i) {
    const ordered_json& chart = document["charts"][i];
    if (!chart.is_object() || !chart.contains("type") || !chart["type"].is_string()) continue;
    const std::string type = chart["type"];
    if (!definitions.contains(type)) continue;
    check_against_schema(chart, definitions[type], file + ": charts." + std::to_string(i), schema_file);
  }
}

}  // namespace

void check_published(const ordered_json& document, const ordered_json& schema, const std::string& file) {
  check_charts(document, schema, file);
  check_against_schema(document, schema, file, schema_file);
  for (std::size_t i = 0; i < document["charts"].size(); ++i) {
    check_lists(document["charts"][i], file + ": charts." + std::to_string(i));
  }
  if (!document.contains("tables")) return;
  for (std::size_t i = 0; i < document["tables"].size(); ++i) {
    const ordered_json& table = document["tables"][i];
    const std::string place = file + ": tables." + std::to_string(i) + ".rows.";
    for (std::size_t row = 0; row < table["rows"].size(); ++row) {
      same_length(table["rows"][row], table["columns"], place + std::to_string(row), "columns");
    }
  }
}

}  // namespace dvp::platform
