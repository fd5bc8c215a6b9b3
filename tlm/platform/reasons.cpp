#include "tlm/platform/reasons.h"

#include <algorithm>

#include "tlm/platform/files.h"

namespace dvp::platform {

using nlohmann::ordered_json;

bool has_value(const ordered_json& document, const std::string& path) {
  std::string pointer = "/" + path;
  std::replace(pointer.begin(), pointer.end(), '.', '/');
  return document.contains(ordered_json::json_pointer(pointer));
}

void replace_reason(ordered_json& document, const std::string& path, const std::string& reason) {
  if (!document.contains("why") || !document["why"].is_object()) return;
  ordered_json kept = ordered_json::object();
  for (const auto& item : document["why"].items()) {
    if (item.key() != path && !item.key().starts_with(path + '.')) kept[item.key()] = item.value();
  }
  kept[path] = reason;
  document["why"] = std::move(kept);
}

void check_reasons(const ordered_json& document, const std::string& file) {
  if (!document.contains("why")) return;
  for (const auto& reason : document["why"].items()) {
    if (has_value(document, reason.key())) continue;
    throw usage_error(file + ": why." + reason.key() + ": the configuration has no key " + reason.key());
  }
}

}  // namespace dvp::platform
