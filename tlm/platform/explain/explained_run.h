// A run's stats.json with what stands behind its numbers: the schema's words, the configuration's reasons, the memory.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tlm/lpddr5/config/memory_config.h"
#include "tlm/platform/explain/derivation.h"

namespace dvp::platform {

class explained_run {
 public:
  // Of a document that stats.schema.json holds for right.
  explicit explained_run(nlohmann::ordered_json stats);

  const nlohmann::ordered_json& stats() const { return stats_; }
  // The LPDDR5 memory, where there is one that can be read again.
  const std::optional<lpddr5::memory_config>& memory() const { return memory_; }
  // Whether the raw counters are those of the total: they are of every prompt, the total of those answered.
  bool counted() const;

  // A figure of stats.json as a leaf, measured, with the schema's words; 0 where there is none.
  derivation figure(const std::string& path, const std::string& name, const std::string& unit) const;
  // The same of a raw counter, `path` being below total.counters.
  derivation counter(const std::string& path, const std::string& unit) const;
  // A value of the configuration with its reason.
  derivation price(const std::string& path, const std::string& unit) const;

  // What the schema says of a dotted path; "" when nothing.
  std::string description_of(std::string_view path) const;

 private:
  nlohmann::ordered_json stats_, schema_;
  std::optional<lpddr5::memory_config> memory_;
};

}  // namespace dvp::platform
