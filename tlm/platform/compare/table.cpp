#include "tlm/platform/compare/table.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>
#include <vector>

#include "tlm/platform/text_table.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

// A column's text for a point that has figures; empty where it says nothing.
struct column {
  const char* title;
  std::function<std::string(const ordered_json& point)> text;
};

std::string fixed(double value, int decimals) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

std::string unless_zero(double value, const std::string& text) {
  return value == 0 ? std::string() : text;
}

std::string percent(double share) {
  return unless_zero(share, fixed(100 * share, 1) + " %");
}

std::string of(const ordered_json& part, const ordered_json& all) {
  return unless_zero(all, part.dump() + "/" + all.dump());
}

std::string ratio_of(const ordered_json& point, const char* which) {
  if (!point.contains("ratio") || !point["ratio"].contains(which)) return {};
  const double ratio = point["ratio"][which];
  return fixed(ratio, ratio < 0.1 ? 4 : 2);
}

const std::vector<column>& columns() {
  static const std::vector<column> all{
      {"latency us", [](const ordered_json& p) { return fixed(p["figures"]["latency_us"], 1); }},
      {"ratio", [](const ordered_json& p) { return ratio_of(p, "latency"); }},
      {"energy uJ", [](const ordered_json& p) { return fixed(p["figures"]["energy_uj"]["value"], 2); }},
      {"ratio", [](const ordered_json& p) { return ratio_of(p, "energy"); }},
      {"all uJ",
       [](const ordered_json& p) {
         if (!p["figures"].contains("system_uj")) return std::string();
         return fixed(p["figures"]["system_uj"]["value"], 2);
       }},
      {"ratio", [](const ordered_json& p) { return ratio_of(p, "system_energy"); }},
      {"DRAM MB", [](const ordered_json& p) { return fixed(p["figures"]["dram_bytes"].get<double>() * 1e-6, 2); }},
      {"forwards", [](const ordered_json& p) { return fixed(p["figures"]["forwards"], 1); }},
      {"tokens/fwd", [](const ordered_json& p) { return fixed(p["figures"]["tokens_per_forward"], 2); }},
      {"array busy", [](const ordered_json& p) { return percent(p["figures"]["array"]["busy"]); }},
      {"of peak", [](const ordered_json& p) { return percent(p["figures"]["array"]["utilisation"]); }},
      {"mapping", [](const ordered_json& p) { return percent(p["figures"]["mapping_share"]); }},
      {"drafts taken",
       [](const ordered_json& p) {
         const auto& d = p["figures"]["drafts"];
         return of(d["accepted"], d["offered"]);
       }},
      {"revised",
       [](const ordered_json& p) {
         const auto& r = p["figures"]["revisions"];
         return of(r["applied"], r["picked"]);
       }},
      {"dropped",
       [](const ordered_json& p) {
         const auto& dropped = p["figures"]["revisions"]["dropped"];
         return unless_zero(dropped, dropped.dump());
       }},
      {"retried",
       [](const ordered_json& p) {
         const auto& retried = p["figures"]["recovery"]["retried"];
         return unless_zero(retried, retried.dump());
       }},
      {"score",
       [](const ordered_json& p) {
         if (!p["figures"].contains("score")) return std::string();
         const auto& s = p["figures"]["score"];
         return s["right"].dump() + "/" + s["of"].dump();
       }},
  };
  return all;
}

// Names longer than this get a number in the table, and a line below it.
constexpr std::size_t longest_name = 48;

// What the columns that are there mean and their titles do not say.
std::string explain_columns(const std::vector<std::vector<std::string>>& rows) {
  const std::pair<const char*, const char*> notes[] = {
      {"all uJ", "DRAM, NPU and CPU, modelled"},
      {"mapping", "share of the time in which the CPU waited for the NPU's address window"},
      {"drafts taken", "accepted/offered"},
      {"revised", "revisions that landed/that were begun"},
  };
  std::string text;
  for (const auto& [title, note] : notes) {
    const auto at = static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), title) - rows[0].begin());
    const bool said = std::any_of(rows.begin() + 1, rows.end(), [&](const auto& row) { return !row[at].empty(); });
    if (said) text += (text.empty() ? "" : "; ") + std::string(title) + ": " + note;
  }
  return text.empty() ? text : text + '\n';
}

}  // namespace

std::string comparison_table(const ordered_json& comparison) {
  std::vector<std::vector<std::string>> rows(1);
  rows[0].emplace_back();
  for (const auto& c : columns()) rows[0].emplace_back(c.title);
  std::string troubles;
  std::string energy, legend;
  for (const auto& point : comparison["points"]) {
    std::vector<std::string> row(1 + columns().size());
    row[0] = point["name"];
    const std::string trouble = point["trouble"];
    if (point.contains("figures")) {
      energy = point["figures"]["energy_uj"]["what"];
      for (std::size_t i = 0; i < columns().size(); ++i) row[i + 1] = columns()[i].text(point);
    }
    if (!trouble.empty()) troubles += "failed: " + row[0] + ": " + trouble + '\n';
    if (row[0].size() > longest_name) {
      const std::string label = '[' + std::to_string(rows.size()) + ']';
      legend += label + ' ' + row[0] + '\n';
      row[0] = label;
    }
    rows.push_back(std::move(row));
  }
  std::string text = text_table(rows) + legend;
  if (!energy.empty()) {
    const bool ratios = comparison["points"][0].contains("figures");
    text +=
        std::string("per answer; ") + (ratios ? "ratios to the first" : "no ratios: the first failed") +
        std::string("; energy of the DRAM, modelled (") +
        (energy == "dram_total_pj" ? "all of it" : "movement of data alone") +
        "); everything else measured by the simulation, CPU work and window maps at the costs of the configuration\n" +
        explain_columns(rows);
  }
  return text + troubles;
}

}  // namespace dvp::platform
