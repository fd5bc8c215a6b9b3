// A memory as a file describes it: everything memory_system takes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/config/traffic_setup.h"
#include "tlm/lpddr5/device/device.h"
#include "tlm/lpddr5/engine/address_mapping.h"
#include "tlm/lpddr5/engine/controller_config.h"
#include "tlm/lpddr5/engine/rules.h"

namespace dvp::lpddr5 {

struct memory_config {
  device dev;
  std::vector<rule_row> rules;
  controller_config controller;
  mapping_bits mapping;
  std::uint32_t channels = 1;
  nlohmann::ordered_json source;   // the document as it was used, files it names put in their place
  std::vector<std::string> notes;  // what was accepted but is not as its author may expect, a sentence each
  // Of DRAMSys simulation files.
  std::vector<traffic_setup> traffic;
  std::uint64_t address_offset = 0;          // subtracted from every address of the traffic
  std::optional<double> simulation_seconds;  // stop the traffic then
};

// Reads our own form, described key by key in memory.schema.json. Paths in it are relative to `folder`; `file` is for
// messages. core::config_error, one sentence, for every fault; the result is consistent: compile(), address_mapping and
// memory_system take it.
memory_config read_memory_config(const nlohmann::ordered_json& document, const std::string& file,
                                 const std::string& folder);

// Reads a DRAMSys simulation file, {"simulation": {...}}: memspec, addressmapping, mcconfig and simconfig inline or by
// file, relative to `folder` or in the older layout of a folder per kind.
memory_config read_simulation(const nlohmann::ordered_json& document, const std::string& file,
                              const std::string& folder);

// Either of them, told apart by its first key: a path, or else the name of a built-in configuration.
memory_config load_memory_config(const std::string& path_or_name);
memory_config parse_memory_config(std::string_view text, const std::string& file, const std::string& folder);

// Why reads of q4 and q2 elements cannot fill bursts with this mapping, and which order to use; empty where they can. A
// note already where the core feeds more than one column into a burst.
std::string why_bursts_stay_unfilled(const memory_config& config);

// The built-in configurations, from configs/*.json.
std::vector<std::string> builtin_memories();

}  // namespace dvp::lpddr5
