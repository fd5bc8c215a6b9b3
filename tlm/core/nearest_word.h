// "Did you mean ...?"
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dvp::core {

// The candidate nearest to `word` by edit distance, letter case apart, or "" when none is within a third of its length
// or 2 edits.
std::string nearest_word(std::string_view word, const std::vector<std::string>& candidates);

// The candidates joined by ", ".
std::string word_list(const std::vector<std::string>& candidates);

}  // namespace dvp::core
