// Which compression sidecar a run reads, and what it takes from it.
#pragma once

#include "tlm/platform/config.h"
#include "tlm/platform/loaded_model.h"

namespace dvp::platform {

// Reads the sidecar that decode.compression names, when it needs one: its channels become part of the model's image for
// dat, its shares and settings fill what the configuration leaves to it. "shipped" is the file beside the model's,
// MODEL.compression.gguf; another name is a path, else a file beside the configuration. usage_error naming the key when
// there is no such file or its corrections have a lower rank, loader::load_error when it cannot be used with this
// model.
void load_sidecar(platform_config& config, loaded_model& model);

}  // namespace dvp::platform
