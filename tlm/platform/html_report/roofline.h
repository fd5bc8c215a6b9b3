// Roofline of a run: what the array and the memory could do at most, and what was done.
#pragma once

#include <nlohmann/json.hpp>

namespace dvp::platform {

// {"array", "roofs": [{"format", "macs_per_second"}], "bytes_per_second",
//  "points": [{"name", "what": "run" | "answer" | "forward" | "operator", "macs_per_byte", "macs_per_second"}]}
//
// The roofs follow from the configuration: rows x columns x clock, twice and four times that for q4 and q2 where the
// array packs them, less where a format takes more than one beat. The points follow from counters: of the whole run and
// of each answer over their latency, of each operator of `timeline` (timeline_view.h, or null) over the time its
// busiest engine took, and of each kind of forward (prefill, denoising by prefix and network) over the time until the
// next one began. Kinds are those of `forwards` (forwards_view.h, or null), in order; there are no such points unless
// the forwards on the timeline are those of the first answers. Null when the configuration names no array that this
// program has.
nlohmann::ordered_json roofline_of(const nlohmann::ordered_json& stats, const nlohmann::ordered_json& timeline,
                                   const nlohmann::ordered_json& forwards);

}  // namespace dvp::platform
