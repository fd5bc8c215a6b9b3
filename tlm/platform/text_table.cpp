#include "tlm/platform/text_table.h"

#include <algorithm>

namespace dvp::platform {

std::string text_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  std::vector<std::size_t> widths(rows[0].size());
  std::vector<bool> said(rows[0].size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      widths[c] = std::max(widths[c], rows[r][c].size());
      if (r != 0 && !rows[r][c].empty()) said[c] = true;
    }
  }
  for (const auto& row : rows) {
    std::string line = row[0] + std::string(widths[0] - row[0].size(), ' ');
    for (std::size_t c = 1; c < row.size(); ++c) {
      if (said[c]) line += "  " + std::string(widths[c] - row[c].size(), ' ') + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

}  // namespace dvp::platform
