#include "tlm/platform/html_report/scores.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr double z = 1.959963984540054;  // 95 % of a normal distribution lie within so many deviations
constexpr std::size_t most_tasks = 100;

ordered_json score(const std::string& task, std::uint64_t right, std::uint64_t of) {
  const share_interval interval = wilson(right, of);
  return {{"task", task}, {"right", right}, {"of", of}, {"low", interval.low}, {"high", interval.high}};
}

}  // namespace

share_interval wilson(std::uint64_t right, std::uint64_t of) {
  if (of == 0) return {};
  const auto n = static_cast<double>(of);
  const double share = static_cast<double>(right) / n;
  const double middle = (share + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(share * (1 - share) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

ordered_json scores_of(const ordered_json& answers) {
  struct count {
    std::uint64_t right = 0, of = 0;
  };
  std::map<std::string, count> tasks;
  count all;
  for (const auto& answer : answers) {
    if (!answer.contains("right") || !answer["right"].is_boolean()) continue;
    const std::string id = text_at(answer, "id");
    const bool right = answer["right"];
    std::string task = id.substr(0, std::min(id.rfind('-'), id.size()));
    if (!tasks.contains(task) && tasks.size() == most_tasks) task = "other";
    for (count* c : {&tasks[task], &all}) {
      ++c->of;
      c->right += right ? 1 : 0;
    }
  }
  ordered_json list = ordered_json::array();
  for (const auto& [task, c] : tasks) list.push_back(score(task, c.right, c.of));
  if (all.of != 0) list.push_back(score("all", all.right, all.of));
  return list;
}

}  // namespace dvp::platform
