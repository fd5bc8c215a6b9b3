// Reading the tree of figures that the models count.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace dvp::platform {

// after - before, leaf by leaf; leaves that are new count from zero. Both trees come from core::statistics.
nlohmann::ordered_json difference(const nlohmann::ordered_json& after, const nlohmann::ordered_json& before);

// The sum, leaf by leaf, of two trees.
nlohmann::ordered_json sum(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

// Leaf at a dotted path; 0 when the tree has none.
std::uint64_t count_at(const nlohmann::ordered_json& tree, std::string_view path);
double value_at(const nlohmann::ordered_json& tree, std::string_view path);

}  // namespace dvp::platform
