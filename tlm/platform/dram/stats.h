// stats.json and latency.csv of `dllm-vp dram`: same input, configuration and seed give the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tlm/platform/dram/result.h"

namespace dvp::platform {

// Documented by tlm/platform/configs/dram_stats.schema.json.
nlohmann::ordered_json make_dram_stats(const dram_result& result);

// Lines "direction,from_clocks,to_clocks,from_ns,to_ns,count": a latency l is counted where from <= l < to.
std::string make_latency_csv(const dram_result& result);

}  // namespace dvp::platform
