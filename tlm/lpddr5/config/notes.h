// Notes of one kind in one line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dvp::lpddr5 {

constexpr std::string_view not_used = "accepted, not used here";

// Appends `item` to the note "<kind>: item, item", which it makes if there is none.
void add_note(std::vector<std::string>& notes, std::string_view kind, const std::string& item);

}  // namespace dvp::lpddr5
