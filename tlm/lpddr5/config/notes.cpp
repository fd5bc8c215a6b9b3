#include "tlm/lpddr5/config/notes.h"

#include <algorithm>

namespace dvp::lpddr5 {

void add_note(std::vector<std::string>& notes, std::string_view kind, const std::string& item) {
  const std::string begin = std::string(kind) + ": ";
  const auto note =
      std::find_if(notes.begin(), notes.end(), [&](const std::string& n) { return n.starts_with(begin); });
  if (note == notes.end()) {
    notes.push_back(begin + item);
  } else {
    *note += ", " + item;
  }
}

}  // namespace dvp::lpddr5
