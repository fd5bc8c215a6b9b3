// Whether a document of scripts/published (configs/published.schema.json) is one that the page can be made of.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dvp::platform {

// usage_error "<file>: <key.path>: <what is wrong>" for the first fault: what the schema does not allow, lists that do
// not go together, numbers of entries that are not there, a waterfall that does not end where its last step is.
void check_published(const nlohmann::ordered_json& document, const nlohmann::ordered_json& schema,
                     const std::string& file);

}  // namespace dvp::platform
