#include "tlm/platform/memory_overrides.h"

#include <algorithm>

#include "tlm/platform/files.h"

namespace dvp::platform {

using nlohmann::ordered_json;

ordered_json assigned_value(const std::string& assignment) {
  const std::string text = assignment.substr(assignment.find('=') + 1);
  ordered_json value = ordered_json::parse(text, nullptr, false);
  return value.is_discarded() ? ordered_json(text) : value;
}

void override_memory(ordered_json& document, const std::string& path, const std::string& assignment) {
  constexpr std::string_view outer = "simulation.";
  const bool is_simulation = document.contains("simulation");
  ordered_json* place = is_simulation ? &document["simulation"] : &document;
  const std::size_t first = is_simulation && path.starts_with(outer) ? outer.size() : 0;
  for (std::size_t begin = first; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    if (place->is_null()) *place = ordered_json::object();
    if (!place->is_object()) {
      throw usage_error("--set " + assignment + ": " + (begin == 0 ? "it" : path.substr(0, begin - 1)) +
                        " holds no keys");
    }
    place = &(*place)[path.substr(begin, end - begin)];
    begin = end + 1;
  }
  *place = assigned_value(assignment);
}

}  // namespace dvp::platform
