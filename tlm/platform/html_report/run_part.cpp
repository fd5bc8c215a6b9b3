#include "tlm/platform/html_report/run_part.h"

#include <algorithm>

#include "tlm/platform/explain/explain.h"
#include "tlm/platform/files.h"
#include "tlm/platform/html_report/assumptions.h"
#include "tlm/platform/html_report/forwards_view.h"
#include "tlm/platform/html_report/plan_view.h"
#include "tlm/platform/html_report/roofline.h"
#include "tlm/platform/html_report/scores.h"
#include "tlm/platform/html_report/timeline_view.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t most_answers = 500;
constexpr std::size_t most_text = 2000;  // of a prompt or an answer, bytes

// At most `most_text` bytes, no character cut in two.
std::string shortened(const std::string& text) {
  if (text.size() <= most_text) return text;
  std::size_t end = most_text;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + " ...";
}

ordered_json answer_line(const ordered_json& answer) {
  ordered_json line;
  for (const char* key : {"id", "prompt", "answer", "expected", "right", "result", "trouble", "latency_us", "forwards",
                          "tokens_per_forward"}) {
    if (!answer.contains(key)) continue;
    line[key] = answer[key].is_string() ? ordered_json(shortened(answer[key].get<std::string>())) : answer[key];
  }
  line["tokens"] = answer["tokens"]["generated"];
  line["system_pj"] = answer["energy"]["system_pj"]["value"];
  return line;
}

template <class View>
ordered_json view_where_there(const fs::path& file, View view) {
  std::error_code ignored;
  return fs::exists(file, ignored) ? view(file) : ordered_json();
}

}  // namespace

ordered_json run_part(const std::string& name, const fs::path& folder, const ordered_json& stats) {
  ordered_json part;
  part["name"] = name;
  part["folder"] = folder.string();
  part["stats"] = stats;
  part["stats"].erase("answers");
  const ordered_json& answers = stats["answers"];
  part["answers"] = ordered_json::array();
  for (std::size_t i = 0; i < std::min(answers.size(), most_answers); ++i) {
    part["answers"].push_back(answer_line(answers[i]));
  }
  part["answers_left_out"] = answers.size() - part["answers"].size();
  const explained_run explained(stats);
  part["derivations"] = ordered_json::array();
  for (const auto& figure : figures_with_formula(explained, "total")) {
    part["derivations"].push_back(to_json(explain(explained, figure)));
  }
  part["scores"] = scores_of(answers);
  part["assumptions"] = assumptions_of(stats["configuration"]);
  part["timeline"] = view_where_there(folder / "timeline.json", view_timeline);
  const ordered_json forwards = view_where_there(folder / "trajectory.json", view_forwards);
  part["roofline"] = roofline_of(stats, part["timeline"], forwards);
  part["plan"] = view_where_there(folder / "plan.txt", view_plan);
  part["forwards"] = forwards;
  return part;
}

}  // namespace dvp::platform
