// Trajectories as JSON, schema dllm-vp.trajectory.1: what a decode committed, forward by forward.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbenches/oracle/replay.h"

namespace dvp::oracle {

struct recorded_answer {
  std::string id;
  std::string text;  // the prompt as typed
  trajectory path;
};

// Throws std::runtime_error or nlohmann::json::exception for a file of another shape.
std::vector<recorded_answer> answers_of(const nlohmann::ordered_json& file);

nlohmann::ordered_json to_json(const recorded_answer& answer);

}  // namespace dvp::oracle
