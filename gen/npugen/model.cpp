#include "gen/npugen/model.h"

#include <algorithm>

namespace dvp::npugen {

std::vector<std::string> specification::sources() const {
  std::vector<std::string> result{numbers.file, system.file};
  for (const block& item : blocks) {
    result.push_back(item.file);
  }
  for (const record_file& item : record_files) {
    result.push_back(item.file);
  }
  for (const array_config& item : arrays) {
    result.push_back(item.file);
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace dvp::npugen
