#include "tlm/platform/fault_config.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

// The schema has made sure that the name is one of them.
template <class Enum, std::size_t n>
Enum named(const char* const (&names)[n], const std::string& name) {
  return static_cast<Enum>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

bool inverts(faults::fault_kind kind) {
  return kind == faults::fault_kind::descriptor || kind == faults::fault_kind::record ||
         kind == faults::fault_kind::ecc_silent;
}

faults::fault fault_from(const ordered_json& json, const std::string& where) {
  const std::string kind = json["kind"];
  faults::fault f;
  f.kind = named<faults::fault_kind>(faults::kind_names, kind);
  const auto allowed = faults::classes_of(f.kind);
  f.where = allowed.front();
  if (json.contains("where")) {
    f.where = named<faults::event_class>(faults::class_names, json["where"]);
    if (std::find(allowed.begin(), allowed.end(), f.where) == allowed.end()) {
      std::string list;
      for (const auto each : allowed) {
        list += (list.empty() ? "" : ", ") + std::string(faults::class_names[static_cast<std::size_t>(each)]);
      }
      throw usage_error(where + ".where: " + kind + " cannot happen to " + json["where"].get<std::string>() +
                        "; it can to: " + list);
    }
  }
  for (const char* key : {"byte", "mask"}) {
    if (json.contains(key) && !inverts(f.kind)) {
      throw usage_error(where + "." + key + ": " + kind + " inverts no bits; remove it");
    }
  }
  f.number = json.value("number", std::uint64_t{1});
  f.at_ps = static_cast<std::uint64_t>(std::llround(json.value("at_us", 0.0) * 1e6));
  f.bits = {json.value("byte", std::uint64_t{0}), json.value("mask", std::uint64_t{1})};
  return f;
}

}  // namespace

faults::fault_plan faults_from(const ordered_json& json, const std::string& file) {
  faults::fault_plan plan;
  plan.random.seed = json["seed"];
  plan.correction_ps = static_cast<std::uint64_t>(std::llround(json["correction_ns"].get<double>() * 1e3));
  for (const auto& [kind, mean] : json["mean_events"].items()) {
    plan.random.mean_events[static_cast<std::size_t>(named<faults::fault_kind>(faults::kind_names, kind))] = mean;
  }
  for (std::size_t i = 0; i < json["program"].size(); ++i) {
    plan.program.push_back(fault_from(json["program"][i], file + ": faults.program." + std::to_string(i)));
  }
  return plan;
}

void refuse_unfit(const faults::fault_plan& plan, const decode_config& decode, const std::string& file) {
  const auto stuck = faults::fault_kind::stuck;
  const bool sticks =
      plan.random.mean_events[static_cast<std::size_t>(stuck)] != 0 ||
      std::any_of(plan.program.begin(), plan.program.end(), [&](const faults::fault& f) { return f.kind == stuck; });
  if (decode.engine == gen::forward_engine::cpu) {
    throw usage_error(file +
                      ": faults: happen to the NPU, which stays off with decode.engine cpu; remove faults, or set "
                      "decode.engine to npu");
  }
  if (sticks && decode.watchdog_us == 0) {
    throw usage_error(file +
                      ": faults: a stuck access is never answered, and with decode.watchdog_us 0 nobody ends the run; "
                      "set a watch-dog, or remove stuck");
  }
}

}  // namespace dvp::platform
