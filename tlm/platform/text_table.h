// Columns for people.
#pragma once

#include <string>
#include <vector>

namespace dvp::platform {

// Rows, of one length each, as lines: the first is the head; columns right-aligned but for the first one, two blanks
// between, columns that say nothing below the head left out.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace dvp::platform
