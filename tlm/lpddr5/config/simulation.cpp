// DRAMSys simulation files.
#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/config/config_parts.h"
#include "tlm/lpddr5/config/controller_json.h"
#include "tlm/lpddr5/config/mapping_json.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/lpddr5/config/memspec.h"
#include "tlm/lpddr5/config/notes.h"

namespace dvp::lpddr5 {

namespace {

using core::json_object;
using nlohmann::ordered_json;

// Keys that make DRAMSys record, show or draw, and have their like in this model's own options.
constexpr const char* only_in_dramsys[] = {
    "DatabaseRecording", "Debug",     "EnableWindowing", "WindowSize",    "ThermalSimulation", "SimulationProgressBar",
    "CheckTLM2Protocol", "UseMalloc", "ErrorCSVFile",    "ErrorChipSeed", "TogglingRate"};

void read_simconfig(const json_object& json, memory_config& config) {
  config.address_offset = json.whole_or("AddressOffset", 0, 0, UINT64_MAX);
  if (json.has("SimulationTime")) config.simulation_seconds = json.number("SimulationTime", 0, 1e9);
  if (json.has("SimulationName")) json.text("SimulationName");
  if (json.has("PowerAnalysis") && !json.flag("PowerAnalysis")) {
    config.notes.push_back(json.path_of("PowerAnalysis") + ": energy is counted all the same");
  }
  if (json.has("StoreMode")) {
    constexpr core::named_value<bool> modes[] = {{"NoStorage", false}, {"Store", true}};
    if (json.choice("StoreMode", modes)) {
      config.notes.push_back(json.path_of("StoreMode") +
                             ": data is stored by the SystemC module, not when traces are played");
    }
  }
  for (const char* key : only_in_dramsys) {
    const bool given = json.has(key);
    if (given && json.raw(key) != ordered_json(false)) add_note(config.notes, not_used, json.path_of(key));
  }
  json.finish();
}

}  // namespace

memory_config read_simulation(const ordered_json& document, const std::string& file, const std::string& folder) {
  const json_object outer(document, file);
  const json_object top = outer.object("simulation");
  outer.finish();
  memory_config config;
  config.source = document;
  ordered_json& used = config.source["simulation"];
  if (top.has("simulationid")) top.text("simulationid");
  for (const char* key : {"thermalconfig", "thermalsimulation"}) {
    if (top.has(key)) add_note(config.notes, not_used, top.path_of(key));
  }

  const config_part memspec = load_part(top, "memspec", folder);
  used["memspec"] = memspec.document["memspec"];
  config.dev = read_memspec(json_object(memspec.document["memspec"], memspec.file, memspec.path), config.notes);
  config.channels = config.dev.shape.channels;
  config.rules = builtin_rules();

  const config_part mapping = load_part(top, "addressmapping", folder);
  used["addressmapping"] = mapping.document["addressmapping"];
  config.mapping = read_address_mapping(json_object(mapping.document["addressmapping"], mapping.file, mapping.path),
                                        config.dev.shape);

  const config_part policies = load_part(top, "mcconfig", folder);
  used["mcconfig"] = policies.document["mcconfig"];
  config.controller =
      read_mcconfig(json_object(policies.document["mcconfig"], policies.file, policies.path), config.dev, config.notes);

  if (top.has("simconfig")) {
    const config_part simulator = load_part(top, "simconfig", folder);
    used["simconfig"] = simulator.document["simconfig"];
    read_simconfig(json_object(simulator.document["simconfig"], simulator.file, simulator.path), config);
  }
  if (top.has("tracesetup")) {
    for (const json_object& entry : top.objects("tracesetup")) {
      config.traffic.push_back(read_traffic_setup(entry, folder));
    }
  }
  top.finish();
  check_memory(config, file);
  return config;
}

}  // namespace dvp::lpddr5
