#include "testbenches/oracle/trajectory_file.h"

#include <stdexcept>

namespace dvp::oracle {

using nlohmann::ordered_json;

std::vector<recorded_answer> answers_of(const ordered_json& file) {
  if (file.value("schema", "") != "dllm-vp.trajectory.1") throw std::runtime_error("not a dllm-vp.trajectory.1 file");
  std::vector<recorded_answer> answers;
  for (const auto& item : file.at("answers")) {
    recorded_answer a{item.at("id"), item.at("prompt"), {}};
    a.path.tokens = item.at("tokens").get<std::vector<token>>();
    const std::size_t prompt_tokens = item.at("prompt_tokens");
    if (prompt_tokens > a.path.tokens.size()) throw std::runtime_error("more prompt tokens than tokens in " + a.id);
    a.path.prompt.assign(a.path.tokens.begin(), a.path.tokens.begin() + static_cast<std::ptrdiff_t>(prompt_tokens));
    for (const auto& f : item.at("forwards")) {
      const std::string kind = f.at("kind");
      // The other kinds are events between forwards.
      if (kind != "forward" && kind != "prefill") continue;
      step s{f.at("forward"), kind == "prefill", f.at("first"), f.at("rows"), {}};
      for (const auto& c : f.at("commits")) s.commits.push_back({c.at("position"), c.at("token")});
      a.path.steps.push_back(std::move(s));
    }
    answers.push_back(std::move(a));
  }
  return answers;
}

ordered_json to_json(const recorded_answer& answer) {
  ordered_json forwards = ordered_json::array();
  for (const step& s : answer.path.steps) {
    ordered_json commits = ordered_json::array();
    for (const commit& c : s.commits) commits.push_back({{"position", c.position}, {"token", c.chosen}});
    forwards.push_back({{"kind", s.fills ? "prefill" : "forward"},
                        {"forward", s.forward},
                        {"first", s.first},
                        {"rows", s.rows},
                        {"commits", std::move(commits)}});
  }
  return {{"id", answer.id},
          {"prompt", answer.text},
          {"prompt_tokens", answer.path.prompt.size()},
          {"tokens", answer.path.tokens},
          {"forwards", std::move(forwards)}};
}

}  // namespace dvp::oracle
