// Single values set on the document of a configuration, by --set and by configurations that derive from others.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

struct config_override {
  std::string path;  // "npu.vector.lanes"
  nlohmann::ordered_json value;
  std::string said;  // where the user said so, for messages: "--set npu.vector.lanes=32", "mine.json: set.npu.array"
  std::string by;    // who sets it, for the value's reason: "--set", "mine.json"
};

// "npu.vector.lanes=32": the value is JSON where it parses as JSON, else a string. usage_error when it is no
// assignment.
config_override parse_override(const std::string& assignment);

// Sets the value. The path must be there; below memory.config and cpu.rv64.core it may lead into what the document
// only names, which is then written out in full. The value's reason becomes who set it, see reasons.h. usage_error
// naming the nearest known key.
void apply_override(nlohmann::ordered_json& document, const config_override& wanted);

}  // namespace dvp::platform
