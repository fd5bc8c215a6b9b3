// The part "faults" of a configuration: what goes wrong on the NPU's way to memory, see tlm/faults.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tlm/faults/fault_plan.h"
#include "tlm/platform/decode_config.h"

namespace dvp::platform {

// `json` has the schema's shape. usage_error naming file and key for a fault that cannot happen: a class of events that
// its kind is none of, or bits to invert where a kind inverts none.
faults::fault_plan faults_from(const nlohmann::ordered_json& json, const std::string& file);

// usage_error for faults that nothing would notice, or nobody end: any of them while the NPU is off, and an access that
// is never answered without a watch-dog.
void refuse_unfit(const faults::fault_plan& plan, const decode_config& decode, const std::string& file);

}  // namespace dvp::platform
