// Reasons of a configuration's values: its object `why`, from path ("npu.vector.lanes") to a sentence that begins with
// what the value is: choice, quoted, computed or measured. A reason is of the value and of all below it that have none
// of their own. The simulation does not depend on them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dvp::platform {

// Whether the document has something at `path`.
bool has_value(const nlohmann::ordered_json& document, const std::string& path);

// What stands at `path` has been replaced: reasons of it and of what is below it go, `reason` comes. Does nothing where
// the document gives no reasons.
void replace_reason(nlohmann::ordered_json& document, const std::string& path, const std::string& reason);

// usage_error naming the first reason that is of no value of the document.
void check_reasons(const nlohmann::ordered_json& document, const std::string& file);

// The reason of the value at a path: its own, or that of the nearest object around it; "" when none is stated. Prices
// of a core below cpu.rv64.core have theirs in the core's own "why".
std::string reason_of(const nlohmann::ordered_json& document, std::string_view path);

// The word that a reason begins with: choice, quoted, computed or measured; "unstated" for no reason.
std::string kind_of_reason(std::string_view reason);

}  // namespace dvp::platform
