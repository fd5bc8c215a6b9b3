// Where the simulated time of an answer went, by what its forwards did.
//
// Measured at the firmware's progress events: a forward takes from the end of the one before it, or from the acceptance
// of the request, to its own end; the work of the CPU between them is included.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>

#include "tlm/platform/answer.h"

namespace dvp::platform {

// `phases` of an answer, which add up over answers leaf by leaf. Each phase is {forwards, us}:
//   prefill  fills the cache with the prompt: before the first token is chosen
//   denoise  chooses tokens
//   fill     fills the cache with what was decoded, or closes a block
//   rest     behind the last of these; of no forward, so {us}
// and, where there are tier maps or anchors, the denoising ones again: prefix {warm_up, ranking, mapped}, network
// {anchor, interior}; see prefix_reading and network_pass in gen/spec/formats/request.json.
nlohmann::ordered_json phases_of(const answer& a);

// The summary's lines, of `phases` and the time they are of.
void write_phases(std::ostream& out, const nlohmann::ordered_json& phases, double latency_us);

}  // namespace dvp::platform
