#include "tlm/platform/memory_overrides.h"

#include <algorithm>

#include "tlm/platform/files.h"

namespace dvp::platform {

using nlohmann::ordered_json;

ordered_json assigned_value(const std::string& assignment) {
  const std::string text = assignment.substr(assignment.find('=') + 1);
  ordered_json value = ordered_json::parse(text, nullptr, false);
  if (!value.is_discarded()) return value;
  if (text.starts_with('{') || text.starts_with('[')) {
    throw usage_error("--set " + assignment + ": the value begins like JSON and is none; mind brackets and quotes");
  }
  return text;
}

void override_memory(ordered_json& document, const std::string& path, const ordered_json& value,
                     const std::string& said) {
  constexpr std::string_view outer = "simulation.";
  const bool is_simulation = document.contains("simulation");
  ordered_json* place = is_simulation ? &document["simulation"] : &document;
  const std::size_t first = is_simulation && path.starts_with(outer) ? outer.size() : 0;
  for (std::size_t begin = first; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (place->is_null()) *place = ordered_json::object();
    if (!place->is_object()) {
      throw usage_error(said + ": " + (begin == 0 ? "it" : path.substr(0, begin - 1)) + " holds no keys");
    }
    place = &(*place)[path.substr(begin, end - begin)];
    begin = end + 1;
  }
  *place = value;
}

}  // namespace dvp::platform
