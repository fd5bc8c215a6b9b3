// A design point: what a configuration file says, as the structures the models take.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <systemc>
#include <vector>

#include "tlm/cpu/native_cpu.h"
#include "tlm/memory/simple_memory.h"
#include "tlm/npu/npu_config.h"

namespace dvp::platform {

struct platform_config {
  std::string name;
  std::string description;
  npu::npu_config npu;
  memory::simple_memory_config memory;
  cpu::native_cpu_config cpu;
  sc_core::sc_time bus_latency;
  std::uint32_t row_tile = 0;     // rows; 0: the firmware's choice
  std::uint32_t watchdog_us = 0;  // simulated; 0: never
  nlohmann::ordered_json source;  // the document as it was used, overrides applied
};

// Loads a configuration by path or shipped name, applies overrides "npu.vector.lanes=32" in order, checks it against
// the published schema and converts it. usage_error naming file and key for every fault.
platform_config load_config(const std::string& name_or_path, const std::vector<std::string>& overrides);

}  // namespace dvp::platform
