// A design point: what a configuration file says, as the structures the models take.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "tlm/cpu/native_cpu.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/memory/simple_memory.h"
#include "tlm/npu/npu_config.h"

namespace dvp::platform {

// What sits in the memory seat.
struct memory_choice {
  memory::simple_memory_config fixed;           // model fixed
  std::optional<lpddr5::memory_config> lpddr5;  // model lpddr5; the other is unused then
  std::uint64_t peak_bytes_per_second = 0;
};

struct platform_config {
  std::string name;
  std::string description;
  npu::npu_config npu;
  memory_choice memory;
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
