// The part of a configuration that says how the firmware decodes: loop, cache, commit rule, editing, drafts.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dvp_gen/request.h"

namespace dvp::platform {

inline constexpr std::size_t most_latency_entries = 64;

struct decode_config {
  std::uint32_t row_tile = 0;     // rows; 0: the firmware's choice
  std::uint32_t watchdog_us = 0;  // simulated; 0: never
  bool fast_dllm_v1 = false;      // else the loop the model was trained for
  gen::cache_mode cache = gen::cache_mode::none;
  gen::commit_rule rule = gen::commit_rule::by_loop;
  float factor = 0;
  float edit_threshold = 0;  // 0: no editing
  std::uint32_t edit_steps = 0;
  std::uint32_t draft_trigger = 0;  // 0: no drafts
  std::uint32_t draft_look_ahead = 0;
  float draft_threshold = 0;
  std::vector<gen::latency_entry> latencies;
};

// Reads `decode` of a configuration that the schema accepts. Throws usage_error naming file and key when keys do not go
// together.
decode_config decode_from(const nlohmann::ordered_json& json, const std::string& file);

// Throws usage_error when a model with this attention cannot be decoded like that.
void refuse_unfit(const decode_config& config, bool block_causal, const std::string& model);

// Fills in the request's fields; latency_address: where the latency entries are in DRAM.
void apply(const decode_config& config, bool block_causal, std::uint64_t latency_address, gen::request_record& request);

}  // namespace dvp::platform
