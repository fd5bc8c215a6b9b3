// Checks a JSON document against a JSON Schema and says the first fault in one sentence.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// usage_error "<file>: <key.path>: <what is wrong>" for the first fault: an unknown key (with the nearest right one),
// a missing key, a wrong type or a value out of range. `schema_file`: the file of tlm/platform/configs that the schema
// is from, which the error names.
void check_against_schema(const nlohmann::json& document, const nlohmann::json& schema, const std::string& file,
                          const std::string& schema_file);

}  // namespace dvp::platform
