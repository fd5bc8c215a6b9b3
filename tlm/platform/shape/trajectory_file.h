// trajectory.json as something to decode by: schema dllm-vp.trajectory.1 with decisions (run --replayable), or
// dllm-vp.distribution.1, which states how decisions are distributed. configs/trajectory.schema.json describes both.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "tlm/platform/shape/decision_feed.h"
#include "tlm/platform/shape/trajectory_model.h"

namespace dvp::platform {

struct recorded_answer {
  std::string id;
  std::vector<std::uint32_t> prompt;  // tokens
  decision_log decisions;
};

struct recorded_trajectory {
  std::string model;
  std::vector<recorded_answer> answers;
};

struct trajectory {
  std::string name;  // the file's, without its ending
  std::variant<recorded_trajectory, decision_distribution> what;
};

// A path, else a shipped distribution (tlm/platform/trajectories) of that name; usage_error when there is neither.
std::filesystem::path find_trajectory(const std::string& name_or_path);

// Of that file. usage_error or core::config_error naming file and key, also for a trajectory without decisions.
trajectory read_trajectory(const std::string& name_or_path);

// For stats.json: name, kind, and what a distribution states.
nlohmann::ordered_json describe(const trajectory& decided_by);

// "decisions" of an answer in trajectory.json: {kind: [[number, ...], ...]}. Tokens are whole numbers, all others
// binary32; what JSON has no number for is "inf", "-inf" or "nan".
nlohmann::ordered_json decisions_to_json(const decision_log& log);

// Gives back what was recorded, answer by answer. std::runtime_error, which ends the simulation, when the decode asks
// for more or for something else than was recorded: it is then another decode than the recorded one.
class decision_replay : public decision_feed {
 public:
  // The trajectory outlives it.
  explicit decision_replay(const recorded_trajectory& recorded) : recorded_(recorded) {}

  void begin(std::size_t index) override;
  void made(npu::decision, std::span<const std::uint32_t>) override {}
  void give(npu::decision kind, std::uint32_t first_row, std::span<std::uint32_t> words) override;

 private:
  const recorded_trajectory& recorded_;
  std::size_t answer_ = 0;
  std::array<std::size_t, npu::decisions> next_{};
};

}  // namespace dvp::platform
