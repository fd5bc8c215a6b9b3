// Everything that `dllm-vp run` reads and looks at before it simulates.
#pragma once

#include <string>
#include <vector>

#include "tlm/platform/answer.h"
#include "tlm/platform/config.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/run_options.h"
#include "tlm/platform/session.h"
#include "tlm/platform/shape/shape_run.h"
#include "tlm/platform/shared_files.h"

namespace dvp::platform {

struct prepared_run {
  // Throws what makes the run impossible: usage_error, core::config_error, loader::load_error, loader::encode_error.
  // The options outlive it.
  explicit prepared_run(const run_options& options);

  shape_run shape;
  loaded_model model;
  std::vector<prompt> prompts;  // all of them can be encoded
  platform_config config;       // overrides applied, what sidecar and latency file give filled in
  decode_options decode;
  std::vector<named_file> inputs;  // the files it reads, the first of its configuration among them, by who names them
};

}  // namespace dvp::platform
