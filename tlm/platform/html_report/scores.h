// How many answers were right, by task, with the interval that so few answers leave open.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace dvp::platform {

struct share_interval {
  double low = 0, high = 1;
};

// Wilson's score interval at 95 % of a share of `right` out of `of`; [0, 1] for none of none.
share_interval wilson(std::uint64_t right, std::uint64_t of);

// [{"task", "right", "of", "low", "high"}] of answers that have a known right one. A task is what an id says before its
// last "-", such as arith of arith-000; the last entry is of all.
nlohmann::ordered_json scores_of(const nlohmann::ordered_json& answers);

}  // namespace dvp::platform
