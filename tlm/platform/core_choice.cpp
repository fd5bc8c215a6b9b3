#include "tlm/platform/core_choice.h"

#include <cmath>

#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using cpu::rv64::cost_model;
using nlohmann::ordered_json;

std::uint32_t units(double cycles) {
  return static_cast<std::uint32_t>(std::lround(cycles * cpu::rv64::units_per_cycle));
}

}  // namespace

ordered_json described_core(const ordered_json& core) {
  if (!core.is_string()) return core;
  const auto path = find_core(core.get<std::string>());
  try {
    return core::parse_json(read_text(path), path.filename().string());
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
}

cost_model cost_model_from(const ordered_json& core, const std::string& file) {
  cost_model costs;
  std::vector<std::pair<std::string, std::uint32_t*>> places;
  for (std::size_t i = 0; i < cpu::rv64::work_kinds; ++i) {
    places.emplace_back(name_of(static_cast<cpu::rv64::work>(i)), &costs.price[i]);
  }
  places.insert(places.end(), {{"load_stall", &costs.load_stall},
                               {"store_stall", &costs.store_stall},
                               {"trap_entry", &costs.trap_entry},
                               {"wake", &costs.wake}});
  const std::string where = file + ": cpu.rv64.core.cycles";
  std::vector<std::string> known;
  for (const auto& [name, place] : places) {
    known.push_back(name);
    if (!core["cycles"].contains(name)) throw usage_error(where + "." + name + ": missing; every kind needs a value");
    *place = units(core["cycles"][name].get<double>());
  }
  for (const char* table : {"cycles", "why"}) {
    if (!core.contains(table)) continue;
    for (const auto& item : core[table].items()) {
      if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
      const std::string close = core::nearest_word(item.key(), known);
      throw usage_error(file + ": cpu.rv64.core." + table + "." + item.key() + ": there is no such kind" +
                        (close.empty() ? "" : "; did you mean " + close + "?"));
    }
  }
  if (const std::string fault = costs.fault(); !fault.empty()) throw usage_error(where + ": " + fault);
  return costs;
}

}  // namespace dvp::platform
