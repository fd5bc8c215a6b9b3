#include "tlm/platform/config.h"

#include <algorithm>
#include <cmath>

#include "dvp_gen/arrays.h"
#include "dvp_gen/system.h"
#include "firmware/hal/hal.h"
#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/platform/core_choice.h"
#include "tlm/platform/files.h"
#include "tlm/platform/memory_overrides.h"
#include "tlm/platform/schema_check.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

const ordered_json::json_pointer core_path("/cpu/rv64/core");

ordered_json parse_json(const std::string& text, const std::string& file) {
  try {
    return ordered_json::parse(text);
  } catch (const ordered_json::parse_error& error) {
    std::string reason = error.what();
    if (const auto at = reason.find("parse error"); at != std::string::npos) reason.erase(0, at);
    throw usage_error(file + ": is not JSON: " + reason);
  }
}

// "memory.config.channels=8": a memory given by name becomes its description, with the key on top.
void override_described_memory(ordered_json& config, const std::string& path, const std::string& assignment) {
  try {
    if (config.is_string()) config = lpddr5::load_memory_config(config.get<std::string>()).source;
  } catch (const core::config_error& error) {
    throw usage_error("--set " + assignment + ": memory.config: " + error.what());
  }
  override_memory(config, path, assignment);
}

// What to say of a key `parent`.`key` that is not there: the nearest of those that are, or else all of them.
std::string known_instead(const ordered_json& place, const std::string& parent, const std::string& key) {
  std::vector<std::string> known;
  std::string list;
  if (place.is_object()) {
    for (const auto& item : place.items()) {
      known.push_back(item.key());
      list += (list.empty() ? "" : ", ") + parent + item.key();
    }
  }
  std::string close = core::nearest_word(key, known);
  const bool described = parent == "memory." && place.contains("config");
  if (close.empty() && described) {
    close = core::nearest_word(key, {"device", "channels", "ranks", "timing", "mapping", "controller", "tagged"});
    if (!close.empty()) close.insert(0, "config.");
  }
  if (!close.empty()) return "did you mean " + parent + close + "?";
  if (described) list += ", and below memory.config what describes it, such as memory.config.channels";
  return list.empty() ? "it holds no keys" : "known there are " + list;
}

// "npu.vector.lanes=32": the value is JSON where it parses as JSON, else a string.
void apply_override(ordered_json& document, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error("--set " + assignment + ": expected path=value, such as npu.vector.lanes=32");
  }
  constexpr std::string_view described = "memory.config.";
  if (assignment.substr(0, equals).starts_with(described) && document.contains("memory") &&
      document["memory"].is_object() && document["memory"].contains("config")) {
    override_described_memory(document["memory"]["config"],
                              assignment.substr(described.size(), equals - described.size()), assignment);
    return;
  }
  constexpr std::string_view core = "cpu.rv64.core.";
  if (assignment.substr(0, equals).starts_with(core) && document.contains(core_path)) {
    document[core_path] = described_core(document[core_path]);
  }
  ordered_json* place = &document;
  std::size_t begin = 0;
  while (begin <= equals) {
    const std::size_t end = std::min(assignment.find('.', begin), equals);
    const std::string key = assignment.substr(begin, end - begin);
    if (!place->is_object() || !place->contains(key)) {
      throw usage_error("--set " + assignment + ": unknown key " + assignment.substr(0, end) + "; " +
                        known_instead(*place, assignment.substr(0, begin), key));
    }
    place = &(*place)[key];
    begin = end + 1;
  }
  *place = assigned_value(assignment);
}

sc_core::sc_time nanoseconds(const ordered_json& value) {
  return {value.get<double>(), sc_core::SC_NS};
}

// A table whose keys must be exactly `names`, `place` being its path: each name's value, in the order of names.
std::vector<ordered_json> table_from(const ordered_json& table, const std::vector<std::string>& names,
                                     const std::string& file, const std::string& place) {
  std::vector<ordered_json> values;
  for (const auto& name : names) {
    if (!table.contains(name))
      throw usage_error(file + ": " + place + "." + name + ": missing; every kind needs a value");
    values.push_back(table[name]);
  }
  for (const auto& item : table.items()) {
    if (std::find(names.begin(), names.end(), item.key()) == names.end()) {
      const std::string close = core::nearest_word(item.key(), names);
      throw usage_error(file + ": " + place + "." + item.key() + ": there is no such kind" +
                        (close.empty() ? "" : "; did you mean " + close + "?"));
    }
  }
  return values;
}

npu::vector_cost_table vector_costs_from(const ordered_json& json, const std::string& file) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < npu::vector_functions; ++i) {
    names.emplace_back(gen::name_of(static_cast<gen::vector_function>(i)));
  }
  npu::vector_cost_table costs{};
  const auto values = table_from(json, names, file, "npu.vector.functions");
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = {values[i][0], values[i][1], values[i][2]};
  return costs;
}

npu::npu_config npu_from(const ordered_json& json, const std::string& file) {
  npu::npu_config config;
  config.clock_hz = json["clock_hz"];
  const std::string array = json["array"];
  const gen::array_config* found = gen::find_array(array);
  if (found == nullptr) {
    std::vector<std::string> names;
    std::string list;
    for (const auto& known : gen::arrays) {
      names.emplace_back(known.name);
      list += (list.empty() ? "" : ", ") + names.back();
    }
    throw usage_error(file + ": npu.array: no array is called " + array + "; there are: " + list);
  }
  config.array = *found;
  config.scratchpad_bytes = json["scratchpad"]["bytes"];
  config.scratchpad_banks = json["scratchpad"]["banks"];
  config.scratchpad_bytes_per_cycle = json["scratchpad"]["bytes_per_cycle"];
  config.dma_max_burst_bytes = json["dma"]["max_burst_bytes"];
  config.dma_max_outstanding = json["dma"]["max_outstanding"];
  config.dma_issue_cycles = json["dma"]["issue_cycles"];
  config.dma_quantum_cycles = json["dma"]["quantum_cycles"];
  config.accumulator_latency_cycles = json["accumulator_latency_cycles"];
  config.vector_lanes = json["vector"]["lanes"];
  config.vector_costs = vector_costs_from(json["vector"]["functions"], file);
  config.sampling_lanes = json["sampling"]["lanes"];
  config.sampling_cost.latency_cycles = json["sampling"]["latency_cycles"];
  config.dispatch_cycles = json["sequencer"]["dispatch_cycles"];
  config.engine_queue_depth = json["sequencer"]["engine_queue"];
  config.prefetch_descriptors = json["sequencer"]["prefetch"];
  try {
    npu::validate(config);
  } catch (const std::invalid_argument& error) {
    throw usage_error(file + ": " + error.what());
  }
  return config;
}

// Which keys of "memory" belong to which model: the schema lists them together.
const std::vector<std::string> fixed_keys{"latency_ns", "bytes_per_second", "e_core_pj_per_bit", "e_down_pj_per_bit"};
const std::vector<std::string> lpddr5_keys{"config", "mode"};

void check_memory_keys(const ordered_json& json, const std::string& file) {
  const std::string model = json["model"];
  const bool fixed = model == "fixed";
  for (const auto& key : fixed ? fixed_keys : lpddr5_keys) {
    if (!json.contains(key))
      throw usage_error(file + ": memory." + key + ": missing; memory.model " + model + " needs it");
  }
  for (const auto& key : fixed ? lpddr5_keys : fixed_keys) {
    if (!json.contains(key)) continue;
    throw usage_error(file + ": memory." + key + ": belongs to memory.model " + (fixed ? "lpddr5" : "fixed") +
                      " and this is " + model + "; remove it or change the model");
  }
}

memory::simple_memory_config fixed_memory_from(const ordered_json& json) {
  memory::simple_memory_config config;
  config.bytes = gen::system::dram_bytes;
  config.latency = nanoseconds(json["latency_ns"]);
  config.bytes_per_second = json["bytes_per_second"];
  config.e_core_pj_per_bit = json["e_core_pj_per_bit"];
  config.e_down_pj_per_bit = json["e_down_pj_per_bit"];
  config.timeline_gap = sc_core::sc_time(100, sc_core::SC_NS);
  return config;
}

// `folder`: where files that an inline description names are looked for.
lpddr5::memory_config lpddr5_memory_from(const ordered_json& json, const std::string& file, const std::string& folder,
                                         std::uint64_t stream_bytes) {
  try {
    const ordered_json& described = json["config"];
    lpddr5::memory_config config = described.is_string()
                                       ? lpddr5::load_memory_config(described.get<std::string>())
                                       : lpddr5::parse_memory_config(described.dump(), "inline", folder);
    config.controller.stream_bytes = json["mode"] == "stream" ? stream_bytes : 0;
    return config;
  } catch (const core::config_error& error) {
    throw usage_error(file + ": memory.config: " + error.what());
  }
}

memory_choice memory_from(const ordered_json& json, const std::string& file, const std::string& folder,
                          const npu::npu_config& npu) {
  check_memory_keys(json, file);
  memory_choice choice;
  if (json["model"] == "fixed") {
    choice.fixed = fixed_memory_from(json);
    choice.peak_bytes_per_second = choice.fixed.bytes_per_second;
    return choice;
  }
  choice.lpddr5 = lpddr5_memory_from(json, file, folder, npu.dma_max_burst_bytes);
  choice.peak_bytes_per_second = static_cast<std::uint64_t>(
      std::llround(lpddr5::peak_bytes_per_second(choice.lpddr5->dev) * choice.lpddr5->channels));
  return choice;
}

cpu::native_cpu_config native_from(const ordered_json& json, const std::string& file) {
  cpu::native_cpu_config config;
  config.clock_hz = json["clock_hz"];
  config.register_access_cycles = json["register_access_cycles"];
  const std::vector<std::string> names(std::begin(hal::work_names), std::end(hal::work_names));
  const auto cycles = table_from(json["work_cycles"], names, file, "cpu.work_cycles");
  for (std::size_t i = 0; i < names.size(); ++i) config.work.push_back({names[i], cycles[i]});
  return config;
}

rv64_choice rv64_from(const ordered_json& json, const std::string& file) {
  rv64_choice choice;
  choice.harts = json["harts"];
  choice.hart.clock_hz = json["clock_hz"];
  choice.hart.quantum = nanoseconds(json["quantum_ns"]);
  choice.hart.direct_memory = json["direct_memory"];
  choice.hart.costs = cost_model_from(json["core"], file);
  return choice;
}

}  // namespace

platform_config load_config(const std::string& name_or_path, const std::vector<std::string>& overrides) {
  const auto path = find_config(name_or_path);
  const std::string file = path.filename().string();
  platform_config config;
  config.source = parse_json(read_text(path), file);
  for (const auto& assignment : overrides) apply_override(config.source, assignment);
  if (config.source.contains(core_path)) {
    config.source[core_path] = described_core(config.source[core_path]);
  }

  const auto schema_path = data_root() / "tlm/platform/configs/config.schema.json";
  check_against_schema(config.source, parse_json(read_text(schema_path), "config.schema.json"), file);

  const ordered_json& json = config.source;
  config.name = json["name"];
  config.description = json["description"];
  config.npu = npu_from(json["npu"], file);
  config.memory = memory_from(json["memory"], file, path.parent_path().string(), config.npu);
  config.npu.memory_non_blocking = config.memory.lpddr5.has_value();
  config.seat = json["cpu"]["seat"] == "rv64" ? cpu_choice::rv64 : cpu_choice::native;
  config.native = native_from(json["cpu"], file);
  config.rv64 = rv64_from(json["cpu"]["rv64"], file);
  config.bus_latency = nanoseconds(json["bus"]["latency_ns"]);
  config.uart_bits_per_second = json["uart"]["bits_per_second"];
  config.decode = decode_from(json["decode"], file);
  return config;
}

}  // namespace dvp::platform
