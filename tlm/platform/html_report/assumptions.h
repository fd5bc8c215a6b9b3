// What a run takes as given: every value of its configuration, with the reason that the configuration states for it.
#pragma once

#include <nlohmann/json.hpp>

namespace dvp::platform {

// [{"path", "value", "kind", "reason"}], in the configuration's order; then what an LPDDR5 memory's device takes as
// given, below memory.device. `kind` as of kind_of_reason (../reasons.h); a reason that is not stated is empty.
nlohmann::ordered_json assumptions_of(const nlohmann::ordered_json& configuration);

}  // namespace dvp::platform
