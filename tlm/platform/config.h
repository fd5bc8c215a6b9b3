// A design point: what a configuration file says, as the structures the models take.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "tlm/cpu/native_cpu.h"
#include "tlm/cpu/rv64/rv64_cpu.h"
#include "tlm/faults/fault_plan.h"
#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/memory/simple_memory.h"
#include "tlm/npu/npu_config.h"
#include "tlm/platform/decode_config.h"
#include "tlm/platform/energy.h"

namespace dvp::platform {

enum class cpu_choice { native, rv64 };

// The native seat: so many harts, all alike but for their name.
struct native_choice {
  std::uint32_t harts = 1;
  cpu::native_cpu_config hart;
};

// The RV64 seat: so many harts, all alike but for their number.
struct rv64_choice {
  std::uint32_t harts = 1;
  cpu::rv64::rv64_cpu_config hart;
};

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
  cpu_choice seat = cpu_choice::native;
  native_choice native;
  rv64_choice rv64;
  sc_core::sc_time bus_latency;
  std::uint32_t uart_bits_per_second = 0;
  energy_config energy;
  decode_config decode;
  std::optional<faults::fault_plan> faults;
  nlohmann::ordered_json source;               // the document as it was used, overrides applied
  std::vector<std::filesystem::path> folders;  // where the files it names lie: its own, then of its bases
};

// Loads a configuration by path or shipped name, applies overrides "npu.vector.lanes=32" in order, checks it against
// the published schema and converts it. usage_error naming file and key for every fault.
platform_config load_config(const std::string& name_or_path, const std::vector<std::string>& overrides);

}  // namespace dvp::platform
