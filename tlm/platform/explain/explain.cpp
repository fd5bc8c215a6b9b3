#include "tlm/platform/explain/explain.h"

#include <algorithm>

#include "tlm/core/nearest_word.h"
#include "tlm/platform/explain/terms.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

struct rule {
  const char* figure;  // below the scope
  derivation (*derive)(const scope&);
};
constexpr rule rules[] = {{"latency_us", latency},
                          {"tokens_per_second", tokens_per_second},
                          {"tokens_per_forward", tokens_per_forward},
                          {"array.utilisation", array_utilisation},
                          {"array.busy", array_busy},
                          {"dram.bytes_read", bytes_read},
                          {"dram.bytes_written", bytes_written},
                          {"dram.bytes_per_second", bytes_per_second},
                          {"dram.peak_bytes_per_second", peak_bytes_per_second},
                          {"dram.lpddr5.bus_busy", bus_busy},
                          {"dram.lpddr5.row_hits", row_hits},
                          {"bound", bound},
                          {"energy.system_pj", system_energy},
                          {"energy.dram_total_pj", dram_energy},
                          {"energy.dram_movement_pj", dram_movement},
                          {"energy.npu_pj", npu_energy},
                          {"energy.cpu_pj", cpu_energy}};

struct friendly_name {
  const char* name;
  const char* path;
};
constexpr friendly_name names[] = {{"latency", "total.latency_us"},
                                   {"throughput", "total.tokens_per_second"},
                                   {"tokens_per_forward", "total.tokens_per_forward"},
                                   {"utilisation", "total.array.utilisation"},
                                   {"busy", "total.array.busy"},
                                   {"bytes", "total.dram.bytes_read"},
                                   {"bandwidth", "total.dram.bytes_per_second"},
                                   {"peak", "total.dram.peak_bytes_per_second"},
                                   {"bound", "total.bound"},
                                   {"energy", "total.energy.system_pj"},
                                   {"energy_dram", "total.energy.dram_total_pj"},
                                   {"energy_movement", "total.energy.dram_movement_pj"},
                                   {"energy_npu", "total.energy.npu_pj"},
                                   {"energy_cpu", "total.energy.cpu_pj"}};

std::string path_of(const std::string& figure) {
  for (const friendly_name& known : names) {
    if (figure == known.name) return known.path;
  }
  return figure;
}

// "total" or "answers.3" with what is below it.
struct placed_figure {
  std::string scope, figure;
};
placed_figure placed(const std::string& path) {
  const auto first = path.find('.');
  const bool answer = path.starts_with("answers.");
  const auto cut = answer ? path.find('.', first + 1) : first;
  if (cut == std::string::npos) return {path, ""};
  return {path.substr(0, cut), path.substr(cut + 1)};
}

void collect_leaves(const ordered_json& place, const std::string& path, std::vector<std::string>& to) {
  if (!place.is_structured()) {
    to.push_back(path);
    return;
  }
  if (!place.is_object()) return;
  for (const auto& item : place.items())
    collect_leaves(item.value(), path.empty() ? item.key() : path + "." + item.key(), to);
}

[[noreturn]] void refuse(const explained_run& run, const std::string& figure) {
  std::vector<std::string> known;
  for (const friendly_name& name : names) known.emplace_back(name.name);
  collect_leaves(run.stats()["total"], "", known);
  collect_leaves(run.stats()["total"], "total", known);
  collect_leaves(run.stats()["configuration"], "configuration", known);
  const std::string close = core::nearest_word(figure, known);
  std::string list;
  for (const friendly_name& name : names) list += (list.empty() ? "" : ", ") + std::string(name.name);
  throw usage_error(figure + ": stats.json has no such figure; " +
                    (close.empty() ? "try " + list + ", or a dotted path of it" : "did you mean " + close + "?"));
}

std::string unit_of(const std::string& path) {
  for (const char* unit : {"us", "ps", "pj"}) {
    if (path.ends_with(std::string("_") + unit)) return unit == std::string("pj") ? "pJ" : unit;
  }
  if (path.ends_with("_bytes") || path.find(".bytes_read") != std::string::npos) return "B";
  return path.ends_with(".us") ? "us" : "";
}

derivation leaf(const explained_run& run, const std::string& path, const ordered_json& value) {
  constexpr std::string_view configuration = "configuration.";
  const bool given = path.starts_with(configuration);
  derivation d = given ? run.price(path.substr(configuration.size()), "") : run.figure(path, path, unit_of(path));
  if (!given && path.find(".energy.") != std::string::npos) d.kind = "modelled";
  if (!value.is_number()) d.text = value.is_string() ? value.get<std::string>() : value.dump();
  return d;
}

}  // namespace

std::vector<std::string> figures_with_formula(const explained_run& run, const std::string& scope_path) {
  const scope s{run, scope_path};
  std::vector<std::string> found;
  for (const rule& r : rules) {
    if (s.has(r.figure)) found.push_back(s.at(r.figure));
  }
  return found;
}

derivation explain(const explained_run& run, const std::string& figure) {
  std::string path = path_of(figure);
  if (path.ends_with(".value")) path.resize(path.size() - 6);
  const ordered_json* found = find_figure(run.stats(), path);
  if (found == nullptr) {
    path = "total." + path;
    found = find_figure(run.stats(), path);
  }
  if (found == nullptr || path.empty()) refuse(run, figure);
  const auto [scope_path, name] = placed(path);
  for (const rule& r : rules) {
    if (name == r.figure && (scope_path == "total" || scope_path.starts_with("answers."))) {
      return r.derive(scope{run, scope_path});
    }
  }
  if (!found->is_object()) return leaf(run, path, *found);
  std::vector<std::string> below;
  for (const auto& item : found->items()) below.push_back(item.key());
  throw usage_error(figure + ": is a group; name one of " + core::word_list(below));
}

std::string friendly_names() {
  std::string text;
  for (const friendly_name& known : names) {
    text += "  " + std::string(known.name) + std::string(20 - std::string(known.name).size(), ' ') + known.path + '\n';
  }
  return text;
}

}  // namespace dvp::platform
