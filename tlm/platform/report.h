// What a run leaves: stats.json, trajectory.json and the summary.
//
// stats.json holds nothing that depends on the host: same configuration, model, prompts and seed give the same bytes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tlm/platform/answer.h"
#include "tlm/platform/config.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/run_options.h"
#include "tlm/platform/session.h"

namespace dvp::platform {

// Documented by tlm/platform/configs/stats.schema.json.
nlohmann::ordered_json make_stats(const platform_config& config, const loaded_model& model, const run_options& options,
                                  const decode_options& decode, const std::vector<answer>& answers);

// Every forward with its commits, per prompt: what testbenches/oracle replays.
nlohmann::ordered_json make_trajectory(const loaded_model& model, const std::vector<answer>& answers);

// The lines a person reads after a run. wall_seconds is the only figure here that the host's speed decides.
std::string make_summary(const nlohmann::ordered_json& stats, double wall_seconds);

}  // namespace dvp::platform
