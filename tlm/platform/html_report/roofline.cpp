#include "tlm/platform/html_report/roofline.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dvp_gen/arrays.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_answers = 200;

double bytes_moved(const ordered_json& costs) {
  double sum = 0;
  for (const char* direction : {"bytes_read", "bytes_written"}) {
    for (const auto& bytes : costs["dram"][direction]) sum += bytes.is_number() ? bytes.get<double>() : 0;
  }
  return sum;
}

// Beats of the stream that one vector takes.
double beats(const gen::array_config& array, std::string_view format) {
  if (format == "bf16") return std::max(1.0, 16.0 / array.lane_bits);
  if (format == "q8" || !array.packing) return 1;
  return format == "q4" ? 0.5 : 0.25;
}

ordered_json point(const std::string& name, const char* what, double macs, double bytes, double seconds) {
  if (macs <= 0 || bytes <= 0 || seconds <= 0) return nullptr;
  return {{"name", name}, {"what", what}, {"macs_per_byte", macs / bytes}, {"macs_per_second", macs / seconds}};
}

ordered_json point_of(const std::string& name, const char* what, const ordered_json& costs) {
  return point(name, what, value_at(costs, "array.macs"), bytes_moved(costs), value_at(costs, "latency_us") * 1e-6);
}

std::string kind_of(const ordered_json& forward) {
  std::string kind = text_at(forward, "kind") == "prefill" ? "prefill" : "denoising";
  for (const char* part : {"prefix", "network"}) {
    if (const std::string value = text_at(forward, part); !value.empty())
      kind += std::string(", ") + part + " " + value;
  }
  return kind;
}

// Of as many forwards as there are on the timeline, when these are all of some first answers; else none.
std::vector<std::string> kinds_of(const ordered_json& forwards, std::size_t on_timeline) {
  std::vector<std::string> kinds;
  if (!forwards.is_array()) return kinds;
  for (const auto& answer : forwards) {
    if (kinds.size() == on_timeline) break;
    for (const auto& forward : answer["forwards"]) kinds.push_back(kind_of(forward));
  }
  if (kinds.size() != on_timeline) kinds.clear();
  return kinds;
}

struct work {
  double macs = 0, bytes = 0, us = 0;
};

// In the order in which the kinds come.
std::vector<std::pair<std::string, work>> work_by_kind(const ordered_json& timeline, const ordered_json& forwards) {
  const ordered_json& done = timeline["forwards"];
  const std::vector<std::string> kinds = kinds_of(forwards, done.size());
  std::vector<std::pair<std::string, work>> sums;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    auto sum = std::find_if(sums.begin(), sums.end(), [&](const auto& s) { return s.first == kinds[i]; });
    if (sum == sums.end()) sum = sums.insert(sums.end(), {kinds[i], {}});
    const double end_us = i + 1 < done.size() ? value_at(done[i + 1], "begin_us") : value_at(done[i], "end_us");
    sum->second.macs += value_at(done[i], "macs");
    sum->second.bytes += value_at(done[i], "bytes");
    sum->second.us += end_us - value_at(done[i], "begin_us");
  }
  return sums;
}

}  // namespace

ordered_json roofline_of(const ordered_json& stats, const ordered_json& timeline, const ordered_json& forwards) {
  const gen::array_config* array = gen::find_array(text_at(stats, "configuration.npu.array"));
  const double clock_hz = value_at(stats, "configuration.npu.clock_hz");
  if (array == nullptr || clock_hz <= 0) return nullptr;

  ordered_json roofline;
  roofline["array"] = array->name;
  for (const char* format : {"bf16", "q8", "q4", "q2"}) {
    const double macs = clock_hz * array->rows * array->columns / beats(*array, format);
    roofline["roofs"].push_back({{"format", format}, {"macs_per_second", macs}});
  }
  roofline["bytes_per_second"] = value_at(stats, "total.dram.peak_bytes_per_second");

  ordered_json& points = roofline["points"] = ordered_json::array();
  const auto add = [&](ordered_json made) {
    if (!made.is_null()) points.push_back(std::move(made));
  };
  add(point_of("whole run", "run", stats["total"]));
  std::size_t answers = 0;
  for (const auto& answer : stats["answers"]) {
    if (answers++ == most_answers) break;
    add(point_of(text_at(answer, "id"), "answer", answer));
  }
  if (!timeline.is_object()) return roofline;
  for (const auto& [kind, done] : work_by_kind(timeline, forwards)) {
    add(point(kind, "forward", done.macs, done.bytes, done.us * 1e-6));
  }
  for (const auto& o : timeline["operators"]) {
    const double seconds = std::max(value_at(o, "array_us"), value_at(o, "transfer_us")) * 1e-6;
    add(point(text_at(o, "name"), "operator", value_at(o, "macs"), value_at(o, "bytes"), seconds));
  }
  return roofline;
}

}  // namespace dvp::platform
