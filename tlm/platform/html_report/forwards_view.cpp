#include "tlm/platform/html_report/forwards_view.h"

#include "tlm/core/strict_json.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_answers = 20;
constexpr std::size_t most_forwards = 2000;

ordered_json answers_in(const std::filesystem::path& file) {
  ordered_json document;
  try {
    document = core::parse_json(read_text(file), file.string());
  } catch (const core::config_error& error) {
    throw usage_error(error.what());
  }
  const bool known = text_at(document, "schema") == "dllm-vp.trajectory.1" && document.contains("answers") &&
                     document["answers"].is_array();
  if (!known) {
    throw usage_error(file.string() +
                      ": is no trajectory that this program reads; remove it to report without the forwards");
  }
  return std::move(document["answers"]);
}

ordered_json forward_of(const ordered_json& recorded) {
  ordered_json forward;
  forward["kind"] = text_at(recorded, "kind");
  forward["rows"] = value_at(recorded, "rows");
  const ordered_json* commits = find_figure(recorded, "commits");
  forward["commits"] = commits == nullptr ? 0 : commits->size();
  for (const char* key : {"prefix", "network"}) {
    if (const std::string value = text_at(recorded, key); !value.empty()) forward[key] = value;
  }
  return forward;
}

}  // namespace

ordered_json view_forwards(const std::filesystem::path& file) {
  ordered_json view = ordered_json::array();
  for (const auto& answer : answers_in(file)) {
    if (view.size() == most_answers) break;
    ordered_json forwards = ordered_json::array();
    if (const ordered_json* recorded = find_figure(answer, "forwards"); recorded != nullptr && recorded->is_array()) {
      for (const auto& forward : *recorded) {
        if (forwards.size() == most_forwards) break;
        // The other records are of a request's begin and end, and of blocks.
        const std::string kind = text_at(forward, "kind");
        if (kind == "forward" || kind == "prefill") forwards.push_back(forward_of(forward));
      }
    }
    view.push_back({{"id", text_at(answer, "id")}, {"forwards", std::move(forwards)}});
  }
  return view;
}

}  // namespace dvp::platform
