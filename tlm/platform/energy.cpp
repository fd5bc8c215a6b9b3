#include "tlm/platform/energy.h"

#include <string>

#include "tlm/platform/config.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr double pj_per_mw_ps = 1e-3;

double dram_part(const ordered_json& figures, const char* name) {
  return value_at(figures, std::string("memory.energy.") + name + "_pj_modelled");
}

ordered_json modelled(double value, const char* formula) {
  return {{"value", value}, {"kind", "modelled"}, {"formula", formula}};
}

// With the sum of the parts as the value.
ordered_json modelled(const ordered_json& parts, const char* formula) {
  double sum = 0;
  for (const auto& part : parts) sum += part.get<double>();
  ordered_json json = modelled(sum, formula);
  json["parts"] = parts;
  return json;
}

void add_dram(ordered_json& energy, const platform_config& config, const ordered_json& figures) {
  if (!config.memory.lpddr5) {
    energy["dram_movement_pj"] = modelled(dram_part(figures, "total"),
                                          "sum over elements of 8 e_core + p e_down, memory.e_core_pj_per_bit and "
                                          "memory.e_down_pj_per_bit of the configuration");
    return;
  }
  energy["dram_movement_pj"] =
      modelled(dram_part(figures, "core") + dram_part(figures, "down") + dram_part(figures, "convert"),
               "bits read from or written to the cell array times their energy, bits across the interface, padding "
               "included, times theirs, and conversion");
  ordered_json parts;
  for (const char* name : {"activate", "refresh", "background", "core", "down", "convert"}) {
    parts[name] = dram_part(figures, name);
  }
  energy["dram_total_pj"] = modelled(dram_part(figures, "total"),
                                     "movement, activates, refreshes, and background "
                                     "power times time");
  energy["dram_total_pj"]["parts"] = parts;
}

ordered_json npu_energy(const platform_config& config, const ordered_json& figures, double duration_ps) {
  const energy_config& price = config.energy;
  const auto work = [&](const std::string& name) { return value_at(figures, "npu.work." + name); };
  ordered_json parts;
  double macs = 0;
  for (std::size_t format = 0; format < price.mac_pj.size(); ++format) {
    macs += price.mac_pj[format] * work(std::string("macs_") + gen::name_of(static_cast<gen::precision>(format)));
  }
  parts["macs"] = macs;
  parts["vector"] = price.vector_pj * work("vector_passes") + price.sampling_pj * work("sampling_elements");
  parts["scratchpad"] = price.scratchpad_pj_per_byte * work("scratchpad_bytes");
  const bool on = config.decode.engine == gen::forward_engine::npu;
  parts["static"] = on ? price.npu_static_mw * duration_ps * pj_per_mw_ps : 0;
  return modelled(parts,
                  "MACs by streamed format, vector passes, sampled logits and scratchpad bytes times the prices under "
                  "energy of the configuration, and energy.npu_static_mw times time");
}

ordered_json cpu_energy(const platform_config& config, const ordered_json& figures, double duration_ps) {
  double picojoules = 0;
  for (const auto& item : figures.items()) {
    if (!item.key().starts_with("cpu")) continue;
    const double busy = busy_ps(item.value(), duration_ps);
    picojoules += (config.energy.cpu_busy_mw * busy + config.energy.cpu_idle_mw * (duration_ps - busy)) * pj_per_mw_ps;
  }
  return modelled(picojoules,
                  "per hart, energy.cpu_busy_mw times the time it worked and energy.cpu_idle_mw times the "
                  "rest");
}

}  // namespace

energy_config energy_from(const ordered_json& json) {
  energy_config config;
  for (std::size_t format = 0; format < config.mac_pj.size(); ++format) {
    config.mac_pj[format] = json["mac_pj"][gen::name_of(static_cast<gen::precision>(format))];
  }
  config.vector_pj = json["vector_pj"];
  config.sampling_pj = json["sampling_pj"];
  config.scratchpad_pj_per_byte = json["scratchpad_pj_per_byte"];
  config.npu_static_mw = json["npu_static_mw"];
  config.cpu_busy_mw = json["cpu_busy_mw"];
  config.cpu_idle_mw = json["cpu_idle_mw"];
  return config;
}

ordered_json energy_of(const platform_config& config, const ordered_json& figures, std::uint64_t duration_ps) {
  const auto time = static_cast<double>(duration_ps);
  ordered_json energy;
  add_dram(energy, config, figures);
  energy["npu_pj"] = npu_energy(config, figures, time);
  energy["cpu_pj"] = cpu_energy(config, figures, time);

  const ordered_json& npu = energy["npu_pj"]["parts"];
  const auto of_npu = [&](const char* name) { return npu[name].get<double>(); };
  const auto dram = [&](const char* name) { return dram_part(figures, name); };
  const ordered_json parts = {{"dram_array", dram("core") + dram("activate")},
                              {"dram_io", dram("down")},
                              {"conversion", dram("convert")},
                              {"compute", of_npu("macs") + of_npu("vector")},
                              {"sram", of_npu("scratchpad")},
                              {"static", dram("background") + dram("refresh") + of_npu("static")},
                              {"cpu", energy["cpu_pj"]["value"]}};
  energy["system_pj"] = modelled(parts,
                                 "DRAM, NPU and CPU: dram_array is core and activate, static is background, "
                                 "refresh and the NPU's static power");
  return energy;
}

}  // namespace dvp::platform
