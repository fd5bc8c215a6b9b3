// Why a prompt has no answer, in words that name what the user can change.
#pragma once

#include <string>

#include "tlm/platform/answer.h"
#include "tlm/platform/config.h"

namespace dvp::platform {

// One sentence; empty for an answer that is ok.
std::string trouble_of(const answer& a, const platform_config& config);

// Whether the answer failed because of what the configuration says, not of what happened in the run.
bool is_configurations_fault(const answer& a);

}  // namespace dvp::platform
