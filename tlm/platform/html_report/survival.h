// Which part of a gain survives on a real memory: what a waterfall of scripts/published comes to, in figures and words.
#pragma once

#include <nlohmann/json.hpp>

namespace dvp::platform {

// Of a waterfall (configs/published.schema.json):
// {"takes": [{"name", "amount"}], "survives", "of_quoted", "sentence"}
//
// `amount`: the gain before a step less that behind it, below 0 where the step gives. `survives`: (end - 1) / (start -
// 1), the share of what is gained on an ideal memory; null when nothing is gained there. `of_quoted`: end by the
// publication's gain; null without one. The sentence says all of it, gains with two decimals, shares in percent.
nlohmann::ordered_json survival_of(const nlohmann::ordered_json& waterfall);

}  // namespace dvp::platform
