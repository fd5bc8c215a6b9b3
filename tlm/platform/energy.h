// What a run's work cost in energy: counts of the models times figures of the configuration.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tlm/npu/work.h"

namespace dvp::platform {

struct platform_config;

// The part of a configuration called energy; the DRAM's figures belong to the memory.
struct energy_config {
  std::array<double, npu::streamed_formats> mac_pj{};  // by streamed format
  double vector_pj = 0;                                // per element and pass
  double sampling_pj = 0;                              // per element
  double scratchpad_pj_per_byte = 0;                   // through a port
  double npu_static_mw = 0;                            // while the NPU is on
  double cpu_busy_mw = 0;                              // of a hart that works
  double cpu_idle_mw = 0;                              // of a hart that waits or sleeps
};

// From a document that the schema holds for right.
energy_config energy_from(const nlohmann::ordered_json& json);

// The section energy of stats.json for what happened in `duration_ps`, counted in `figures`: every entry modelled, with
// its formula and its parts, in picojoules.
nlohmann::ordered_json energy_of(const platform_config& config, const nlohmann::ordered_json& figures,
                                 std::uint64_t duration_ps);

}  // namespace dvp::platform
