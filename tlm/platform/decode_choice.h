// What to ask of a model: from the command line, else what the model says of itself.
#pragma once

#include "tlm/platform/decode_config.h"
#include "tlm/platform/loaded_model.h"
#include "tlm/platform/run_options.h"
#include "tlm/platform/session.h"

namespace dvp::platform {

// usage_error naming the option or key for what the firmware would refuse with a code: an option of another loop, a
// length that is not whole blocks, steps that the blocks cannot share.
decode_options choose_decode(const run_options& options, const loaded_model& model, const decode_config& config);

}  // namespace dvp::platform
