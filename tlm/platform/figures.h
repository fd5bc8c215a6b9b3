// Reading the tree of figures that the models count.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dvp::platform {

// after - before, leaf by leaf; leaves that are new count from zero. Both trees come from core::statistics.
nlohmann::ordered_json difference(const nlohmann::ordered_json& after, const nlohmann::ordered_json& before);

// The sum, leaf by leaf, of two trees.
nlohmann::ordered_json sum(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

// An LPDDR5 memory of so many channels counts a gap on its data bus when the next burst ends it. Counts the gap that is
// open now as well, as without request, so that whatever follows is not charged with it.
void settle_idle(nlohmann::ordered_json& figures, std::uint32_t channels);

// What is at a dotted path, nullptr when nothing is. Entries of a list go by number, or by their "id".
const nlohmann::ordered_json* find_figure(const nlohmann::ordered_json& tree, std::string_view path);

// Leaf at a dotted path; 0 or "" when the tree has none.
std::uint64_t count_at(const nlohmann::ordered_json& tree, std::string_view path);
double value_at(const nlohmann::ordered_json& tree, std::string_view path);
std::string text_at(const nlohmann::ordered_json& tree, std::string_view path);

// Time in which a hart, one of the tree's, worked: native harts count that, those of the RV64 seat their sleep.
double busy_ps(const nlohmann::ordered_json& hart, double duration_ps);

}  // namespace dvp::platform
