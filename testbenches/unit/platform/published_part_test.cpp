// What the report page makes of documents of scripts/published: figures worked out by hand, and what it refuses.
#include "tlm/platform/html_report/published_part.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tlm/platform/files.h"
#include "tlm/platform/html_report/published_check.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;

ordered_json waterfall() {
  return ordered_json::parse(
      R"({"type": "waterfall", "title": "t", "subject": "A model", "kind": "measured", "unit": "x",
    "what": "latency", "compares": "Full / Baseline", "start": {"name": "ideal", "value": 3},
    "steps": [{"name": "refresh", "value": 2.75}, {"name": "rows", "value": 2.8}, {"name": "the CPU", "value": 2.8},
              {"name": "scatter", "value": 2}],
    "end": {"name": "as modelled", "value": 2}, "quoted": 4})");
}

ordered_json document(const ordered_json& chart) {
  return {{"schema", "dllm-vp.published.1"},
          {"figure", "four"},
          {"title", "t"},
          {"program", {{"version", "1"}, {"revision", "r"}}},
          {"command", {"scripts/published", "four"}},
          {"charts", {chart}}};
}

ordered_json schema() {
  return ordered_json::parse(read_text(data_root() / "tlm/platform/configs/published.schema.json"));
}

ordered_json part_of(const ordered_json& chart) {
  return published_part("file", document(chart))["charts"][0];
}

TEST(survival, what_each_cause_takes_and_what_is_left) {
  const ordered_json survival = part_of(waterfall())["survival"];
  const double amounts[] = {0.25, -0.05, 0, 0.8};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(survival["takes"][i]["amount"], amounts[i], 1e-12);
  EXPECT_DOUBLE_EQ(survival["survives"], 0.5) << "(2 - 1) / (3 - 1)";
  EXPECT_DOUBLE_EQ(survival["of_quoted"], 0.5) << "2 of 4";
  EXPECT_EQ(survival["sentence"],
            "A model: 50\u00a0% of the gain in latency of Full over Baseline would survive: 3.00 on an ideal memory, "
            "2.00 as modelled; 0.25 is lost to refresh and 0.80 to scatter; 0.05 is won by rows; nothing that two "
            "decimals show is lost to the CPU; the quoted 4.00 is reached to 50\u00a0%.");
}

TEST(survival, where_nothing_or_everything_is_left) {
  const auto sentence = [](double start, double end) {
    ordered_json chart = waterfall();
    chart["start"]["value"] = start;
    chart["steps"] = {{{"name", "refresh"}, {"value", end}}};
    chart["end"]["value"] = end;
    chart.erase("quoted");
    return part_of(chart)["survival"]["sentence"].get<std::string>();
  };
  EXPECT_EQ(sentence(2, 0.9),
            "A model: nothing of the gain in latency of Full over Baseline would survive: 2.00 on an ideal memory, "
            "0.90 as modelled; 1.10 is lost to refresh.");
  EXPECT_NE(sentence(2, 2.1).find(": all of the gain in"), std::string::npos);
  EXPECT_NE(sentence(0.8, 0.7).find(": there is no gain in"), std::string::npos);
  EXPECT_NE(sentence(1.001, 1).find(": there is no gain in"), std::string::npos) << "none that two decimals show";
}

TEST(published_part, ratios_of_headline_and_ladder) {
  const ordered_json headline = part_of(ordered_json::parse(R"({"type": "headline", "rows": [
    {"ours": 2, "theirs": 8}, {"ours": null, "theirs": 8}, {"ours": 2, "theirs": null}, {"ours": 2, "theirs": 0}]})"));
  EXPECT_EQ(headline["rows"][0]["ratio"], 0.25);
  for (std::size_t i = 1; i < 4; ++i) EXPECT_TRUE(headline["rows"][i]["ratio"].is_null()) << i;
  const ordered_json ladder = part_of(ordered_json::parse(R"({"type": "ladder", "reference": "kv", "rungs": [
    {"name": "cpu", "value": 80, "quoted": 30}, {"name": "kv", "value": 20, "quoted": 10},
    {"name": "npu", "value": 5, "quoted": 4}, {"name": "dppr", "value": null, "quoted": 1}]})"));
  EXPECT_EQ(ladder["rungs"][0]["gain"], 0.25);
  EXPECT_EQ(ladder["rungs"][2]["gain"], 4);
  EXPECT_EQ(ladder["rungs"][2]["quoted_gain"], 2.5);
  EXPECT_EQ(ladder["rungs"][2]["ratio"], 1.25);
  EXPECT_TRUE(ladder["rungs"][3]["gain"].is_null());
  EXPECT_EQ(ladder["rungs"][3]["quoted_gain"], 10);
}

TEST(published_check, every_fault_has_its_place) {
  const auto refused = [](const ordered_json& chart, const std::function<void(ordered_json&)>& change,
                          const std::string& place) {
    ordered_json whole = document(chart);
    EXPECT_NO_THROW(check_published(whole, schema(), "f.json")) << chart;
    change(whole["charts"][0]);
    try {
      check_published(whole, schema(), "f.json");
      ADD_FAILURE() << "taken: " << whole["charts"][0];
    } catch (const usage_error& error) {
      EXPECT_EQ(std::string(error.what()).find("f.json: charts.0" + place), 0U) << place << "\n" << error.what();
    }
  };
  const auto chart = [](const char* type, const char* more) {
    ordered_json made = {{"type", type}, {"title", "t"}, {"subject", "s"}, {"kind", "measured"}, {"unit", "x"}};
    made.update(ordered_json::parse(more));
    return made;
  };
  const ordered_json gains = chart("gains", R"({"what": "energy", "series": ["a", "b"], "groups": [{"name": "g",
    "values": [1, 2]}]})");
  refused(
      gains, [](auto& c) { c["groups"][0]["values"].push_back(3); }, ".groups.0.values: has 3 values for 2 series");
  refused(
      gains, [](auto& c) { c["groups"][0]["values"][1] = "2"; }, ": groups");
  refused(
      gains, [](auto& c) { c["groups"][0]["values"][1] = -1; }, ": groups");
  refused(
      gains, [](auto& c) { c["groups"][0]["valeus"] = 1; }, ": groups.0.valeus: unknown key; did you mean");
  refused(
      gains, [](auto& c) { c["series"] = ordered_json::array(); }, ": series");
  refused(
      gains, [](auto& c) { c["series"].insert(c["series"].end(), 100, "x"); }, ": series");
  refused(
      gains, [](auto& c) { c.erase("kind"); }, ":");
  refused(
      gains, [](auto& c) { c["kind"] = "guessed"; }, ": kind");
  refused(
      gains, [](auto& c) { c["type"] = "pie"; }, "");
  refused(
      gains, [](auto& c) { c = 7; }, "");
  refused(
      waterfall(), [](auto& c) { c["end"]["value"] = 2.1; }, ".end.value: is not that of the last step");
  refused(
      waterfall(), [](auto& c) { c["steps"] = ordered_json::array(); }, ": steps");
  const ordered_json pairs = chart("pairs", R"({"what": "latency", "centre": 1, "choices": [{"name": "a", "ends":
    ["0", "1"]}, {"name": "b", "ends": ["0"]}], "cells": [{"a": 0, "a_end": 1, "b": 1, "b_end": 0, "value": 1,
    "interaction": 1}]})");
  refused(
      pairs, [](auto& c) { c["cells"][0]["a"] = 2; }, ".cells.0.a: there are 2 choices");
  refused(
      pairs, [](auto& c) { c["cells"][0]["b_end"] = 1; }, ".cells.0.b_end: choice 1 has 1 ends");
  refused(
      pairs, [](auto& c) { c["cells"][0]["b"] = 0; }, ".cells.0.b: is the same choice");
  refused(
      pairs, [](auto& c) { c["cells"][0]["a"] = -1; }, ": cells");
  refused(
      pairs, [](auto& c) { c["cells"][0]["a"] = 0.5; }, ": cells");
  const ordered_json even = chart("break_even", R"({"rows": [{"name": "n", "what": "latency", "kind": "measured",
    "unit": "", "compares": "a / b", "points": [[1, 2]], "verdict": "crosses", "value": 3, "bracket": [4, 2]}]})");
  refused(
      even, [](auto& c) { c["rows"][0]["value"] = 5; }, ".rows.0.value: lies outside");
  refused(
      even, [](auto& c) { c["rows"][0]["verdict"] = "always"; }, ".rows.0.value: is there exactly");
  refused(
      even, [](auto& c) { c["rows"][0]["points"][0].push_back(1); }, ": rows");
  const ordered_json ladder = chart("ladder", R"({"unit": "s", "reference": "a", "rungs": [{"name": "a", "value": 1,
    "kind": "measured", "quoted": null}]})");
  refused(
      ladder, [](auto& c) { c["reference"] = "b"; }, ".reference: is none of the rungs");
  refused(
      ladder, [](auto& c) { c["rungs"][0]["kind"] = nullptr; }, ".rungs.0.kind: is there exactly");

  ordered_json whole = document(gains);
  whole["tables"] = ordered_json::parse(R"([{"title": "t", "columns": [{"name": "c", "kind": "label"}],
    "rows": [["x"], ["y", 2]]}])");
  try {
    check_published(whole, schema(), "f.json");
    ADD_FAILURE();
  } catch (const usage_error& error) {
    EXPECT_EQ(std::string(error.what()).find("f.json: tables.0.rows.1: has 2 values for 1 columns"), 0U)
        << error.what();
  }
}

}  // namespace
}  // namespace dvp::platform
