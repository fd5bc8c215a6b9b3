#include "tlm/lpddr5/config/memory_config.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "tlm/core/nearest_word.h"
#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/config/builtin_memories.h"
#include "tlm/lpddr5/config/config_parts.h"
#include "tlm/lpddr5/config/controller_json.h"
#include "tlm/lpddr5/config/device_check.h"
#include "tlm/lpddr5/config/mapping_json.h"
#include "tlm/lpddr5/config/memspec.h"

namespace dvp::lpddr5 {

namespace {

using core::json_object;
using core::named_value;
using nlohmann::ordered_json;

constexpr std::uint32_t most_channels = 1024;
constexpr named_value<bank_mode> bank_modes[] = {{"BG", bank_mode::bg}, {"16B", bank_mode::b16}, {"8B", bank_mode::b8}};
constexpr named_value<bool> wck_modes[] = {{"always_on", true}, {"on_demand", false}};

// Keys that choose a built-in device and mean nothing beside a memspec.
constexpr const char* choice_keys[] = {"density_gbit", "bank_mode", "burst_length", "width_bits", "ranks"};

device chosen_device(const json_object& top) {
  device_choice choice;
  choice.speed = top.text("device");
  choice.density_gbit = top.word_or("density_gbit", choice.density_gbit, 1, 1024);
  if (top.has("bank_mode")) choice.mode = top.choice("bank_mode", bank_modes);
  if (top.has("burst_length")) choice.burst_length = static_cast<std::uint32_t>(top.whole("burst_length", 1, 1024));
  choice.width_bits = top.word_or("width_bits", choice.width_bits, 1, 65536);
  choice.ranks = top.word_or("ranks", choice.ranks, 1, 1024);
  try {
    return builtin_device(choice);
  } catch (const std::invalid_argument& error) {
    throw core::config_error(top.file(), "", error.what());
  }
}

device device_of(const json_object& top, const std::string& folder, memory_config& config) {
  if (!top.has("memspec")) return chosen_device(top);
  if (top.has("device")) top.fail("device", "stands beside memspec, which says all; remove one of them");
  for (const char* key : choice_keys) {
    if (top.has(key)) top.fail(key, "belongs to a built-in device; the memspec says this");
  }
  const config_part part = load_part(top, "memspec", folder);
  config.source["memspec"] = part.document["memspec"];
  return read_memspec(json_object(part.document["memspec"], part.file, part.path), config.notes);
}

void override_timing(const json_object& json, timing& t) {
  constexpr std::uint64_t most_clocks = 10'000'000;
  for (const timing_field& field : timing_fields()) {
    if (json.has(field.name)) t.*(field.value) = static_cast<cycles>(json.whole(field.name, 0, most_clocks));
  }
  json.finish();
}

void override_energy(const json_object& json, energy_table& e) {
  constexpr double most = 1e9;
  bool changed = false;
  const auto figure = [&](const char* key, std::uint64_t& value, double scale) {
    if (!json.has(key)) return;
    value = static_cast<std::uint64_t>(std::llround(json.number(key, 0, most) * scale));
    changed = true;
  };
  figure("activate_nj", e.act_fj, 1e6);
  figure("refresh_all_nj", e.ref_all_fj, 1e6);
  figure("refresh_bank_nj", e.ref_bank_fj, 1e6);
  figure("core_read_pj_per_bit", e.core_read_fj_per_bit, 1e3);
  figure("core_write_pj_per_bit", e.core_write_fj_per_bit, 1e3);
  figure("down_read_pj_per_bit", e.down_read_fj_per_bit, 1e3);
  figure("down_write_pj_per_bit", e.down_write_fj_per_bit, 1e3);
  figure("convert_q4_pj_per_element", e.convert_fj_per_element[4], 1e3);
  figure("convert_q2_pj_per_element", e.convert_fj_per_element[2], 1e3);
  figure("active_standby_mw", e.active_standby_uw, 1e3);
  figure("precharge_standby_mw", e.precharge_standby_uw, 1e3);
  figure("active_power_down_mw", e.active_power_down_uw, 1e3);
  figure("precharge_power_down_mw", e.precharge_power_down_uw, 1e3);
  figure("self_refresh_mw", e.self_refresh_uw, 1e3);
  json.finish();
  if (changed) e.basis = json.file() + ": " + json.path_of("") + "; what it leaves out: " + e.basis;
}

std::string folder_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

}  // namespace

void check_memory(const memory_config& config, const std::string& file) {
  check_device(config.dev, file);
  check_controller(config.controller, config.dev, file);
  try {
    compile(config.rules, config.dev.times);
    const address_mapping mapping(config.mapping, config.dev.shape, config.channels);
  } catch (const std::invalid_argument& error) {
    throw core::config_error(file, "", error.what());
  }
}

memory_config read_memory_config(const ordered_json& document, const std::string& file, const std::string& folder) {
  const json_object top(document, file);
  memory_config config;
  config.source = document;
  config.dev = device_of(top, folder, config);
  config.dev.shape.wck_always_on = top.choice_or("wck", config.dev.shape.wck_always_on, wck_modes);
  config.channels = top.word_or("channels", config.dev.shape.channels, 1, most_channels);
  config.dev.shape.channels = config.channels;
  if (top.has("timing")) override_timing(top.object("timing"), config.dev.times);
  if (top.has("energy")) override_energy(top.object("energy"), config.dev.energy);
  config.rules = builtin_rules();
  if (top.has("controller")) read_controller(top.object("controller"), config.controller);
  if (top.has("tagged")) read_tagged(top.object("tagged"), config.controller.tagged);
  check_device(config.dev, file);
  for (const char* key : {"name", "description"}) {
    if (top.has(key)) top.text(key);
  }
  try {
    config.mapping = top.has("mapping") ? read_mapping(top.object("mapping"), config.dev.shape, config.channels)
                                        : default_mapping(config.dev.shape, config.channels);
  } catch (const std::invalid_argument& error) {
    throw core::config_error(file, "", error.what());
  }
  top.finish();
  check_memory(config, file);
  if (config.controller.tagged.core_feed > 1) {
    if (std::string why = why_bursts_stay_unfilled(config); !why.empty()) config.notes.push_back(std::move(why));
  }
  return config;
}

memory_config parse_memory_config(std::string_view text, const std::string& file, const std::string& folder) {
  const ordered_json document = core::parse_json(text, file);
  if (document.is_object() && document.contains("simulation")) return read_simulation(document, file, folder);
  for (const char* part : {"memspec", "mcconfig", "addressmapping", "simconfig", "CONGEN"}) {
    if (document.is_object() && document.size() == 1 && document.contains(part) && document[part].is_object() &&
        part != std::string_view("memspec")) {
      throw core::config_error(file, part,
                               "is a part of a DRAMSys configuration; give the simulation file that names it");
    }
  }
  return read_memory_config(document, file, folder);
}

memory_config load_memory_config(const std::string& path_or_name) {
  std::error_code ignored;
  if (std::filesystem::exists(path_or_name, ignored)) {
    return parse_memory_config(core::read_config_text(path_or_name), path_or_name, folder_of(path_or_name));
  }
  for (const builtin_memory& memory : builtin_memory_texts()) {
    if (core::same_word(memory.name, path_or_name)) {
      return parse_memory_config(memory.text, std::string(memory.name), "");
    }
  }
  const auto names = builtin_memories();
  const std::string close = core::nearest_word(path_or_name, names);
  throw core::config_error(path_or_name, "",
                           "there is no such file or built-in memory; " +
                               (close.empty() ? "" : "did you mean " + close + "? ") + "built in are " +
                               core::word_list(names));
}

std::vector<std::string> builtin_memories() {
  std::vector<std::string> names;
  for (const builtin_memory& memory : builtin_memory_texts()) names.emplace_back(memory.name);
  return names;
}

}  // namespace dvp::lpddr5
