#include "tlm/platform/compare/run_result.h"

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

// Answers that the run did not give, in one sentence; empty when there are none.
std::string unanswered(const ordered_json& stats) {
  std::size_t count = 0;
  std::string first;
  for (const auto& answer : stats["answers"]) {
    if (answer["result"] == "ok") continue;
    if (count++ == 0) first = answer["id"].get<std::string>() + ": " + answer["trouble"].get<std::string>();
  }
  if (count == 0) return {};
  if (stats["answers"].size() == 1) return "the prompt has no answer; " + first;
  return std::to_string(count) + " of " + std::to_string(stats["answers"].size()) +
         " prompts have no answer; the first of them, " + first;
}

}  // namespace

run_result read_result(const fs::path& folder, const process_end& end) {
  run_result result;
  std::error_code ignored;
  if (fs::exists(folder / "stats.json", ignored)) {
    result.stats = ordered_json::parse(read_text(folder / "stats.json"), nullptr, false);
  }
  if (result.stats.is_discarded()) result.stats = nullptr;
  result.trouble = end.trouble;
  if (result.trouble.empty() && !result.stats.is_null()) result.trouble = unanswered(result.stats);
  if (result.trouble.empty() && (end.code != 0 || result.stats.is_null())) {
    result.trouble = "ended with exit code " + std::to_string(end.code) + " and left no results";
  }
  // Half of the prompts are no figure to compare with.
  if (!result.trouble.empty()) result.stats = nullptr;
  return result;
}

}  // namespace dvp::platform
