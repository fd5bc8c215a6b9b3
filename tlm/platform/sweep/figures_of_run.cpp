#include "tlm/platform/sweep/figures_of_run.h"

namespace dvp::platform::sweep {

namespace {

using nlohmann::ordered_json;

// Energies are counts times prices, also where they stand as bare numbers.
bool is_energy(const std::string& path) {
  return path.ends_with("_pj");
}

bool says_modelled(const ordered_json& place) {
  return place.is_object() && place.contains("kind") && place["kind"] == "modelled";
}

bool is_figure(const ordered_json& place) {
  return says_modelled(place) && place.contains("value") && place["value"].is_number();
}

void collect(const ordered_json& place, const std::string& path, bool modelled, std::vector<figure>& figures) {
  if (place.is_number()) figures.push_back({path, place.get<double>(), modelled || is_energy(path)});
  if (is_figure(place)) figures.push_back({path, place["value"].get<double>(), true});
  if (!place.is_object()) return;
  for (const auto& item : place.items()) {
    if (item.key() == "value" && is_figure(place)) continue;
    if (path == "total" && item.key() == "counters") continue;
    collect(item.value(), path + "." + item.key(), modelled || says_modelled(place), figures);
  }
}

}  // namespace

std::vector<figure> figures_of_run(const ordered_json& stats) {
  std::vector<figure> figures;
  if (stats.contains("total")) collect(stats["total"], "total", false, figures);
  return figures;
}

}  // namespace dvp::platform::sweep
