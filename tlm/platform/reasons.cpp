#include "tlm/platform/reasons.h"

#include <algorithm>

#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

using nlohmann::ordered_json;

namespace {

// The longest part of the path that `reasons` has a text for.
std::string nearest_reason(const ordered_json* reasons, std::string_view path) {
  if (reasons == nullptr || !reasons->is_object()) return {};
  while (!path.empty()) {
    const std::string key(path);
    if (reasons->contains(key) && (*reasons)[key].is_string()) return (*reasons)[key];
    const auto dot = path.rfind('.');
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(0, dot);
  }
  return {};
}

}  // namespace

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

std::string reason_of(const ordered_json& document, std::string_view path) {
  constexpr std::string_view core = "cpu.rv64.core.cycles.";
  if (path.starts_with(core)) {
    const ordered_json* own = find_figure(document, "cpu.rv64.core.why");
    if (std::string reason = nearest_reason(own, path.substr(core.size())); !reason.empty()) return reason;
  }
  return nearest_reason(find_figure(document, "why"), path);
}

std::string kind_of_reason(std::string_view reason) {
  for (const std::string_view kind : {"choice", "quoted", "computed", "measured"}) {
    if (reason.starts_with(kind) && reason.substr(kind.size()).starts_with(":")) return std::string(kind);
  }
  return "unstated";
}

}  // namespace dvp::platform
