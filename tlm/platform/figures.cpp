#include "tlm/platform/figures.h"

#include <algorithm>
#include <charconv>
#include <type_traits>

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

// op(a, b) for every leaf of either tree; a leaf that one of them lacks counts as 0.
template <class Operation>
ordered_json combine(const ordered_json& a, const ordered_json& b, Operation op) {
  if (a.is_object() || b.is_object()) {
    static const ordered_json nothing;
    ordered_json result = ordered_json::object();
    const auto visit = [&](const ordered_json& keys) {
      if (!keys.is_object()) return;
      for (const auto& item : keys.items()) {
        const std::string& key = item.key();
        if (result.contains(key)) continue;
        const bool in_a = a.is_object() && a.contains(key);
        const bool in_b = b.is_object() && b.contains(key);
        result[key] = combine(in_a ? a[key] : nothing, in_b ? b[key] : nothing, op);
      }
    };
    visit(a);
    visit(b);
    return result;
  }
  if (a.is_number_float() || b.is_number_float()) {
    return op(a.is_number() ? a.get<double>() : 0.0, b.is_number() ? b.get<double>() : 0.0);
  }
  return op(a.is_number() ? a.get<std::uint64_t>() : std::uint64_t{0},
            b.is_number() ? b.get<std::uint64_t>() : std::uint64_t{0});
}

const ordered_json* entry_of(const ordered_json& list, const std::string& key) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error == std::errc() && end == key.data() + key.size()) return index < list.size() ? &list[index] : nullptr;
  const auto named = [&](const ordered_json& item) {
    return item.is_object() && item.contains("id") && item["id"] == key;
  };
  const auto found = std::find_if(list.begin(), list.end(), named);
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

ordered_json difference(const ordered_json& after, const ordered_json& before) {
  // A counter that a model corrected downwards counts nothing.
  return combine(after, before,
                 [](auto a, auto b) { return a > b || std::is_floating_point_v<decltype(a)> ? a - b : decltype(a){}; });
}

ordered_json sum(const ordered_json& a, const ordered_json& b) {
  return combine(a, b, [](auto x, auto y) { return x + y; });
}

void settle_idle(ordered_json& figures, std::uint32_t channels) {
  std::uint64_t counted = count_at(figures, "memory.busy_ps");
  for (const auto& item : figures["memory"]["idle"].items()) counted += item.value().get<std::uint64_t>();
  const std::uint64_t time = count_at(figures, "memory.elapsed_ps") * channels;
  ordered_json& without = figures["memory"]["idle"]["no_request_ps"];
  if (time > counted) without = without.get<std::uint64_t>() + (time - counted);
}

const ordered_json* find_figure(const ordered_json& tree, std::string_view path) {
  const ordered_json* place = &tree;
  while (!path.empty() && place != nullptr) {
    const auto dot = path.find('.');
    const std::string key(path.substr(0, dot));
    if (place->is_array()) {
      place = entry_of(*place, key);
    } else {
      place = place->is_object() && place->contains(key) ? &(*place)[key] : nullptr;
    }
    path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
  }
  return place;
}

std::uint64_t count_at(const ordered_json& tree, std::string_view path) {
  const ordered_json* place = find_figure(tree, path);
  return place != nullptr && place->is_number() ? place->get<std::uint64_t>() : 0;
}

double value_at(const ordered_json& tree, std::string_view path) {
  const ordered_json* place = find_figure(tree, path);
  return place != nullptr && place->is_number() ? place->get<double>() : 0.0;
}

std::string text_at(const ordered_json& tree, std::string_view path) {
  const ordered_json* place = find_figure(tree, path);
  return place != nullptr && place->is_string() ? place->get<std::string>() : std::string();
}

double busy_ps(const ordered_json& hart, double duration_ps) {
  const double busy = hart.contains("sleep_ps") ? duration_ps - value_at(hart, "sleep_ps") : value_at(hart, "busy_ps");
  return std::clamp(busy, 0.0, duration_ps);
}

}  // namespace dvp::platform
