#include "tlm/platform/shape/trajectory_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>

#include "tlm/core/strict_json.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::string_view trajectory_schema = "dllm-vp.trajectory.1";
constexpr std::string_view distribution_schema = "dllm-vp.distribution.1";
constexpr npu::decision kinds[] = {npu::decision::sample, npu::decision::drift, npu::decision::activity,
                                   npu::decision::ranking, npu::decision::revision};
constexpr const char* record_again = "record it with dllm-vp run --out FOLDER --replayable";

// Every other word of a prediction is a token.
bool is_token(npu::decision kind, std::size_t word) {
  return (kind == npu::decision::sample || kind == npu::decision::revision) && word % 2 == 0;
}

ordered_json number_of(std::uint32_t word) {
  const float value = std::bit_cast<float>(word);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// Nothing when it is no number.
std::optional<std::uint32_t> word_of(const ordered_json& value, bool token) {
  if (token) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
      return {};
    }
    return value.get<std::uint32_t>();
  }
  if (value.is_number()) return std::bit_cast<std::uint32_t>(static_cast<float>(value.get<double>()));
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (value == "inf") return std::bit_cast<std::uint32_t>(infinity);
  if (value == "-inf") return std::bit_cast<std::uint32_t>(-infinity);
  if (value == "nan") return std::bit_cast<std::uint32_t>(std::numeric_limits<float>::quiet_NaN());
  return {};
}

decision_log read_decisions(const core::json_object& json, const std::string& file, const std::string& path) {
  decision_log log;
  for (const npu::decision kind : kinds) {
    if (kind == npu::decision::revision && !json.has(npu::name_of(kind))) continue;
    const ordered_json& lists = json.raw(npu::name_of(kind));
    const std::string key = path + "." + npu::name_of(kind);
    if (!lists.is_array()) throw core::config_error(file, key, "is not a list of lists of numbers");
    for (const ordered_json& list : lists) {
      if (!list.is_array()) throw core::config_error(file, key, "is not a list of lists of numbers");
      std::vector<std::uint32_t>& words = log.of(kind).emplace_back();
      for (const ordered_json& value : list) {
        const auto word = word_of(value, is_token(kind, words.size()));
        if (!word) throw core::config_error(file, key, "has " + value.dump() + ", which is no such number");
        words.push_back(*word);
      }
    }
  }
  json.finish();
  return log;
}

recorded_answer read_answer(const core::json_object& json, const std::string& file, const std::string& path) {
  if (!json.has("decisions")) {
    throw core::config_error(file, path, std::string("has no decisions to decode by; ") + record_again);
  }
  recorded_answer answer;
  answer.id = json.text("id");
  const std::uint64_t prompt = json.whole("prompt_tokens", 0, std::numeric_limits<std::uint32_t>::max());
  const ordered_json& tokens = json.raw("tokens");
  if (!tokens.is_array() || tokens.size() < prompt) {
    throw core::config_error(file, path + ".tokens", "is not a list of at least the prompt's tokens");
  }
  for (std::uint64_t i = 0; i < prompt; ++i) {
    const auto token = word_of(tokens[i], true);
    if (!token) throw core::config_error(file, path + ".tokens", "has " + tokens[i].dump() + ", which is no token");
    answer.prompt.push_back(*token);
  }
  answer.decisions = read_decisions(json.object("decisions"), file, path + ".decisions");
  return answer;
}

recorded_trajectory read_recorded(const core::json_object& top, const std::string& file) {
  recorded_trajectory recorded{.model = top.text("model"), .answers = {}};
  const auto answers = top.objects("answers");
  for (std::size_t i = 0; i < answers.size(); ++i) {
    recorded.answers.push_back(read_answer(answers[i], file, "answers[" + std::to_string(i) + "]"));
  }
  if (recorded.answers.empty()) throw core::config_error(file, "answers", "is empty; " + std::string(record_again));
  return recorded;
}

decision_distribution read_distribution(const core::json_object& top) {
  decision_distribution d;
  d.tokens_per_forward = top.number("tokens_per_forward", 1, 1024);
  const core::json_object drift = top.object("drift");
  d.least_drift = drift.number("least", 0, 1e6);
  d.most_drift = drift.number("most", d.least_drift, 1e6);
  drift.finish();
  d.run = static_cast<std::uint32_t>(top.whole("run", 1, 1U << 20));
  d.draft_acceptance = top.number_or("draft_acceptance", 0, 0, 1);
  if (top.has("revision")) {
    const core::json_object revision = top.object("revision");
    d.revision = {.agreement = revision.number("agreement", 0, 1), .confident = revision.number("confident", 0, 1)};
    revision.finish();
  }
  top.has("name");
  top.has("why");
  top.has("$schema");
  top.finish();
  return d;
}

}  // namespace

fs::path find_trajectory(const std::string& name_or_path) {
  std::error_code ignored;
  if (fs::is_regular_file(name_or_path, ignored)) return name_or_path;
  const fs::path folder = data_root() / "tlm/platform/trajectories";
  const fs::path path = folder / (name_or_path + ".json");
  if (fs::is_regular_file(path, ignored)) return path;
  std::string names;
  for (const std::string& name : shipped_names(folder, ".json")) names += (names.empty() ? "" : ", ") + name;
  throw usage_error("--trajectory " + name_or_path + ": there is no such file, and the shipped distributions are " +
                    names);
}

trajectory read_trajectory(const std::string& name_or_path) {
  const fs::path path = find_trajectory(name_or_path);
  const std::string file = path.string();
  const auto document = core::parse_json(core::read_config_text(file), file);
  const core::json_object top(document, file);
  const std::string schema = top.text("schema");
  if (schema == distribution_schema) return {path.stem().string(), read_distribution(top)};
  if (schema == trajectory_schema) return {path.stem().string(), read_recorded(top, file)};
  throw core::config_error(file, "schema",
                           "is " + schema + "; this version reads " + std::string(trajectory_schema) + " and " +
                               std::string(distribution_schema));
}

ordered_json describe(const trajectory& decided_by) {
  ordered_json json = {{"name", decided_by.name}};
  if (const auto* d = std::get_if<decision_distribution>(&decided_by.what)) {
    json["kind"] = "distribution";
    json["tokens_per_forward"] = d->tokens_per_forward;
    json["drift"] = {{"least", d->least_drift}, {"most", d->most_drift}};
    json["run"] = d->run;
    if (d->draft_acceptance > 0) json["draft_acceptance"] = d->draft_acceptance;
    if (d->revision) json["revision"] = {{"agreement", d->revision->agreement}, {"confident", d->revision->confident}};
  } else {
    json["kind"] = "recorded";
    json["model"] = std::get<recorded_trajectory>(decided_by.what).model;
  }
  return json;
}

ordered_json decisions_to_json(const decision_log& log) {
  ordered_json json = ordered_json::object();
  for (const npu::decision kind : kinds) {
    ordered_json lists = ordered_json::array();
    for (const auto& words : log.of(kind)) {
      ordered_json list = ordered_json::array();
      for (std::size_t i = 0; i < words.size(); ++i) {
        list.push_back(is_token(kind, i) ? ordered_json(words[i]) : number_of(words[i]));
      }
      lists.push_back(std::move(list));
    }
    json[npu::name_of(kind)] = std::move(lists);
  }
  return json;
}

void decision_replay::begin(std::size_t index) {
  answer_ = index;
  next_ = {};
}

void decision_replay::give(npu::decision kind, std::uint32_t, std::span<std::uint32_t> words) {
  const recorded_answer& answer = recorded_.answers.at(answer_);
  const auto& lists = answer.decisions.of(kind);
  std::size_t& next = next_[static_cast<std::size_t>(kind)];
  const std::string what = std::string(npu::name_of(kind)) + " number " + std::to_string(next + 1) + " of " + answer.id;
  if (next == lists.size()) {
    throw std::runtime_error("the trajectory ends before this decode: it has no " + what +
                             "; decode with the options and the configuration that it was recorded with");
  }
  if (lists[next].size() != words.size()) {
    throw std::runtime_error("the trajectory is of another decode: " + what + " has " +
                             std::to_string(lists[next].size()) + " words and " + std::to_string(words.size()) +
                             " are asked for; decode with the options and the configuration that it was recorded with");
  }
  std::copy(lists[next].begin(), lists[next].end(), words.begin());
  ++next;
}

}  // namespace dvp::platform
