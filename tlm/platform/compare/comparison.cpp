#include "tlm/platform/compare/comparison.h"

#include <algorithm>

#include "tlm/platform/version.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

double bytes_moved(const ordered_json& dram) {
  double bytes = 0;
  for (const char* direction : {"bytes_read", "bytes_written"}) {
    for (const auto& item : dram[direction].items()) bytes += item.value().get<double>();
  }
  return bytes;
}

// How far the energies of all points can be compared.
struct comparable_energy {
  const char* dram;  // which figure of the DRAM every run has
  bool system;       // whether the energies of whole systems have the same in them
};

ordered_json figures_of(const ordered_json& total, const comparable_energy& energy) {
  const double prompts = total["prompts"];
  const auto per_answer = [&](double value) { return ratio(value, prompts); };
  ordered_json json;
  json["latency_us"] = per_answer(total["latency_us"]);
  json["tokens"] = per_answer(total["tokens_generated"]);
  json["forwards"] = per_answer(total["forwards"]);
  json["tokens_per_forward"] = total["tokens_per_forward"];
  json["energy_uj"] = {
      {"value", per_answer(total["energy"][energy.dram]["value"]) * 1e-6}, {"kind", "modelled"}, {"what", energy.dram}};
  if (energy.system) {
    const ordered_json& system = total["energy"]["system_pj"];
    json["system_uj"] = {{"value", per_answer(system["value"]) * 1e-6}, {"kind", "modelled"}};
    for (const auto& part : system["parts"].items()) {
      json["system_uj"]["parts"][part.key()] = per_answer(part.value()) * 1e-6;
    }
  }
  json["dram_bytes"] = per_answer(bytes_moved(total["dram"]));
  json["array"] = {{"busy", total["array"]["busy"]}, {"utilisation", total["array"]["utilisation"]}};
  json["mapping_share"] = ratio(total["mapping"]["waited_us"], total["latency_us"]);
  json["bytes_staged"] = per_answer(total["mapping"]["bytes_staged"]);
  json["drafts"] = total["drafts"];
  json["revisions"] = total["revisions"];
  json["recovery"] = total["recovery"];
  json["bound"] = total["bound"]["held"];
  if (total.contains("score")) json["score"] = total["score"];
  return json;
}

// Of the DRAM its total where every memory tells it, else what moving the data took. Whole systems when all memories
// tell the total or none does.
comparable_energy comparable(const std::vector<run_result>& results) {
  std::size_t runs = 0, totals = 0;
  for (const auto& r : results) {
    if (r.stats.is_null()) continue;
    ++runs;
    totals += r.stats["total"]["energy"].contains("dram_total_pj") ? 1 : 0;
  }
  return {totals == runs ? "dram_total_pj" : "dram_movement_pj", totals == runs || totals == 0};
}

}  // namespace

ordered_json make_comparison(const std::vector<compare_point>& points, const std::vector<run_result>& results) {
  ordered_json comparison;
  comparison["schema"] = "dllm-vp.compare.1";
  comparison["version"] = version;
  comparison["points"] = ordered_json::array();
  ordered_json& list = comparison["points"];
  const comparable_energy energy = comparable(results);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ordered_json point;
    point["name"] = points[i].name;
    point["folder"] = points[i].folder;
    point["arguments"] = points[i].arguments;
    point["trouble"] = results[i].trouble;
    if (!results[i].stats.is_null()) {
      point["configuration"] = results[i].stats["configuration"];
      point["figures"] = figures_of(results[i].stats["total"], energy);
    }
    list.push_back(std::move(point));
  }
  if (!list[0].contains("figures")) return comparison;
  const ordered_json first = list[0]["figures"];
  for (auto& point : list) {
    if (!point.contains("figures")) continue;
    const ordered_json& figures = point["figures"];
    point["ratio"] = {{"latency", ratio(figures["latency_us"], first["latency_us"])},
                      {"energy", ratio(figures["energy_uj"]["value"], first["energy_uj"]["value"])}};
    if (!figures.contains("system_uj")) continue;
    point["ratio"]["system_energy"] = ratio(figures["system_uj"]["value"], first["system_uj"]["value"]);
  }
  return comparison;
}

}  // namespace dvp::platform
