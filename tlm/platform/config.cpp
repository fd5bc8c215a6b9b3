#include "tlm/platform/config.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "dvp_gen/arrays.h"
#include "dvp_gen/system.h"
#include "firmware/hal/hal.h"
#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/platform/config_document.h"
#include "tlm/platform/config_overrides.h"
#include "tlm/platform/core_choice.h"
#include "tlm/platform/fault_config.h"
#include "tlm/platform/files.h"
#include "tlm/platform/reasons.h"
#include "tlm/platform/schema_check.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

const ordered_json::json_pointer core_path("/cpu/rv64/core");

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
  names.emplace_back(gen::name_of(gen::opcode::rebuild));
  names.emplace_back(gen::name_of(gen::opcode::update));
  npu::vector_cost_table costs{};
  const auto values = table_from(json, names, file, "npu.vector.functions");
  for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = {values[i][0], values[i][1], values[i][2]};
  return costs;
}

npu::window_config window_from(const ordered_json& json) {
  npu::window_config window;
  window.bytes = json["bytes"];
  window.entries = json["entries"];
  window.page_bytes = json["page_bytes"];
  window.map_call_ns = json["map_call_ns"];
  window.map_page_ns = json["map_page_ns"];
  window.unmap_call_ns = json["unmap_call_ns"];
  window.unmap_page_ns = json["unmap_page_ns"];
  window.flush_call_ns = json["flush_call_ns"];
  window.flush_bytes_per_second = json["flush_bytes_per_second"];
  return window;
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
  if (json.contains("window")) config.window = window_from(json["window"]);
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

// With memory.mode stream, the shortest access that is served in one step, and what a DMA hands over at once.
constexpr std::uint32_t least_streamed_bytes = 256;
constexpr std::uint32_t streamed_block_bytes = 128U << 10;
// A memory that nobody else uses answers in about 0.1 us: row, column, data, bus.
constexpr std::uint64_t answers_per_second = 10'000'000;

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
  choice.lpddr5 = lpddr5_memory_from(json, file, folder, std::min(least_streamed_bytes, npu.dma_max_burst_bytes));
  choice.peak_bytes_per_second = static_cast<std::uint64_t>(
      std::llround(lpddr5::peak_bytes_per_second(choice.lpddr5->dev) * choice.lpddr5->channels));
  return choice;
}

native_choice native_from(const ordered_json& json, const std::string& file) {
  native_choice choice;
  choice.harts = json["harts"];
  cpu::native_cpu_config& hart = choice.hart;
  hart.clock_hz = json["clock_hz"];
  hart.register_access_cycles = json["register_access_cycles"];
  hart.stream.burst_bytes = json["stream"]["burst_bytes"];
  hart.stream.outstanding = json["stream"]["outstanding"];
  if (!std::has_single_bit(hart.stream.burst_bytes)) {
    throw usage_error(file + ": cpu.stream.burst_bytes: is " + std::to_string(hart.stream.burst_bytes) +
                      "; give a power of two");
  }
  const std::vector<std::string> names(std::begin(hal::work_names), std::end(hal::work_names));
  const auto cycles = table_from(json["work_cycles"], names, file, "cpu.work_cycles");
  for (std::size_t i = 0; i < names.size(); ++i) hart.work.push_back({names[i], cycles[i]});
  return choice;
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
  const config_document read = read_config_document(path);
  platform_config config;
  config.source = read.document;
  config.folders = read.folders;
  for (const auto& assignment : overrides) apply_override(config.source, parse_override(assignment));
  if (config.source.contains(core_path)) {
    config.source[core_path] = described_core(config.source[core_path]);
  }

  const auto schema_path = data_root() / "tlm/platform/configs/config.schema.json";
  check_against_schema(config.source, core::parse_json(read_text(schema_path), "config.schema.json"), file,
                       "config.schema.json");

  const ordered_json& json = config.source;
  check_reasons(json, file);
  config.name = json["name"];
  config.description = json["description"];
  config.npu = npu_from(json["npu"], file);
  config.memory = memory_from(json["memory"], file, read.memory_folder.string(), config.npu);
  config.npu.memory_non_blocking = config.memory.lpddr5.has_value();
  if (config.memory.lpddr5 && config.memory.lpddr5->controller.stream_bytes != 0) {
    config.npu.dma_block_bytes = streamed_block_bytes;
    config.npu.dma_latency_bytes = config.memory.peak_bytes_per_second / answers_per_second;
  }
  config.seat = json["cpu"]["seat"] == "rv64" ? cpu_choice::rv64 : cpu_choice::native;
  config.native = native_from(json["cpu"], file);
  config.native.hart.stream.non_blocking = config.memory.lpddr5.has_value();
  config.rv64 = rv64_from(json["cpu"]["rv64"], file);
  config.bus_latency = nanoseconds(json["bus"]["latency_ns"]);
  config.uart_bits_per_second = json["uart"]["bits_per_second"];
  config.energy = energy_from(json["energy"]);
  config.decode = decode_from(json["decode"], file);
  if (config.decode.swap != gen::swap_policy::none && config.npu.window.bytes == 0) {
    throw usage_error(file + ": decode.swap: is " + gen::name_of(config.decode.swap) +
                      " and npu.window.bytes is 0, so that the NPU has no window to swap in; set both or neither");
  }
  if (json.contains("faults")) {
    config.faults = faults_from(json["faults"], file);
    refuse_unfit(*config.faults, config.decode, file);
  }
  return config;
}

}  // namespace dvp::platform
