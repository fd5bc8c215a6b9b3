#include "tlm/platform/explain/explained_run.h"

#include "tlm/core/strict_json.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"
#include "tlm/platform/reasons.h"
#include "tlm/platform/recorded_memory.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

// The part of the schema that describes `key` of what `place` describes; nullptr for none. `said` becomes the
// description met last on the way.
const ordered_json* part_of(const ordered_json& schema, const ordered_json& place, const std::string& key,
                            std::string& said) {
  if (place.contains("$ref")) {
    const std::string reference = place["$ref"];  // "#/definitions/costs"
    return part_of(schema, schema["definitions"][reference.substr(reference.rfind('/') + 1)], key, said);
  }
  if (place.contains("allOf")) {
    for (const auto& part : place["allOf"]) {
      if (const ordered_json* found = part_of(schema, part, key, said)) return found;
    }
  }
  const ordered_json* found = nullptr;
  if (place.contains("properties") && place["properties"].contains(key)) {
    found = &place["properties"][key];
  } else if (place.contains("items")) {
    found = &place["items"];
  } else if (place.contains("additionalProperties") && place["additionalProperties"].is_object()) {
    found = &place["additionalProperties"];
  }
  if (found != nullptr && found->contains("description")) said = (*found)["description"];
  return found;
}

}  // namespace

explained_run::explained_run(ordered_json stats)
    : stats_(std::move(stats)),
      schema_(core::parse_json(read_text(data_root() / "tlm/platform/configs/stats.schema.json"), "stats.schema.json")),
      memory_(recorded_memory(stats_["configuration"])) {}

bool explained_run::counted() const {
  return stats_["total"]["answered"] == stats_["total"]["prompts"];
}

std::string explained_run::description_of(std::string_view path) const {
  std::string said;
  const ordered_json* place = &schema_;
  while (!path.empty() && place != nullptr) {
    const auto dot = path.find('.');
    place = part_of(schema_, *place, std::string(path.substr(0, dot)), said);
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return said;
}

derivation explained_run::figure(const std::string& path, const std::string& name, const std::string& unit) const {
  derivation d;
  d.figure = path;
  d.name = name;
  d.value = value_at(stats_, path);
  d.unit = unit;
  d.kind = "measured";
  d.source = description_of(path);
  return d;
}

derivation explained_run::counter(const std::string& path, const std::string& unit) const {
  derivation d = figure("total.counters." + path, path, unit);
  d.source = "counter of the simulation";
  return d;
}

derivation explained_run::price(const std::string& path, const std::string& unit) const {
  derivation d;
  d.figure = "configuration." + path;
  d.name = path;
  d.value = value_at(stats_["configuration"], path);
  d.unit = unit;
  const std::string reason = reason_of(stats_["configuration"], path);
  d.kind = kind_of_reason(reason);
  d.source = reason.empty() ? "value of the configuration; it states no reason" : reason;
  return d;
}

}  // namespace dvp::platform
