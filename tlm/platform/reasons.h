// Reasons of a configuration's values: its object `why`, from path ("npu.vector.lanes") to a sentence that begins with
// what the value is: choice, quoted, computed or measured. A reason is of the value and of all below it that have none
// of their own. The simulation does not depend on them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// Whether the document has something at `path`.
bool has_value(const nlohmann::ordered_json& document, const std::string& path);

// What stands at `path` has been replaced: reasons of it and of what is below it go, `reason` comes. Does nothing where
// the document gives no reasons.
void replace_reason(nlohmann::ordered_json& document, const std::string& path, const std::string& reason);

// usage_error naming the first reason that is of no value of the document.
void check_reasons(const nlohmann::ordered_json& document, const std::string& file);

}  // namespace dvp::platform
