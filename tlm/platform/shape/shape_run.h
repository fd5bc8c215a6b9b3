// What `run` does about data: prompts without text, decisions recorded or made.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tlm/platform/answer.h"
#include "tlm/platform/config.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/run_options.h"
#include "tlm/platform/shape/trajectory_file.h"

namespace dvp::platform {

class shape_run {
 public:
  // Reads the trajectory where there is one. usage_error and core::config_error as read_trajectory().
  explicit shape_run(const run_options& options);

  // Those of --prompt-tokens, with tokens from the seed; where neither they nor `given` are there, the trajectory's.
  // usage_error when there are none, or the trajectory has them and others are given.
  std::vector<prompt> prompts(std::vector<prompt> given, const loaded_model& model) const;

  // Turns data off in the configuration. usage_error naming the key of what cannot be had without.
  void apply(platform_config& config) const;

  // For the session; null when there is nothing to record or to make. It points to this object.
  std::unique_ptr<decision_feed> feed(const loaded_model& model) const;

  // Null with real data.
  const trajectory* decided_by() const { return trajectory_ ? &*trajectory_ : nullptr; }

 private:
  const run_options& options_;
  std::optional<trajectory> trajectory_;
};

}  // namespace dvp::platform
