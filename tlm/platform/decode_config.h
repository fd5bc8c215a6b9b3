// The part of a configuration that says how the firmware decodes: loop, cache, commit rule, editing, drafts.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dvp_gen/request.h"
#include "tlm/platform/compression_config.h"

namespace dvp::platform {

inline constexpr std::size_t most_latency_entries = 64;

// A latency table for sequences of so many positions.
struct latency_stairs {
  std::uint32_t keys = 0;
  std::vector<gen::latency_entry> entries;
};

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
  std::vector<latency_stairs> latencies;  // ascending keys; empty: the firmware counts row tiles
  std::string latency_file;               // that holds them and is not read yet; empty: there is none
  gen::forward_engine engine = gen::forward_engine::npu;
  gen::swap_policy swap = gen::swap_policy::none;
  std::uint32_t retries = 0;  // of a forward
  float visibility = 0;       // 0: tokens are final at once
  float stability = 0;
  std::uint32_t revisions = 0;  // tokens at a time; 0: no CPU path
  gen::revision_choice revision_order = gen::revision_choice::oldest;
  std::uint32_t refresh_first_layer = 0;
  std::uint32_t refresh_layers = 0;  // 0: all from the first on
  std::uint32_t sweep_steps = 0;
  bool revision_wait = false;
  compression_config compression;
};

// Reads `decode` of a configuration that the schema accepts. Throws usage_error naming file and key when keys do not go
// together.
decode_config decode_from(const nlohmann::ordered_json& json, const std::string& file);

// usage_error naming `where` unless rows rise and times do not fall.
void require_rising(const std::vector<gen::latency_entry>& entries, const std::string& where);

// The table for a sequence of so many positions: the first one of at least as many keys, else the last.
const std::vector<gen::latency_entry>& latencies_for(const decode_config& config, std::uint64_t positions);

// Throws usage_error when a model with this attention cannot be decoded like that.
void refuse_unfit(const decode_config& config, bool block_causal, const std::string& model);

// Fills in what belongs to the platform rather than to a loop: tile, watch-dog, engine, window, retries.
void apply_platform(const decode_config& config, gen::request_record& request);

// Fills in all of the request's fields, whose lengths are set already; latency_address: where latencies_for its
// sequence is in DRAM.
void apply(const decode_config& config, bool block_causal, std::uint64_t latency_address, gen::request_record& request);

}  // namespace dvp::platform
