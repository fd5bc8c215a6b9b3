#include "gen/npugen/render.h"

#include <algorithm>
#include <iterator>

namespace dvp::npugen {

std::vector<rendered_file> render(const specification& spec) {
  std::vector<rendered_file> files;
  for (const auto& part : {render_cpp(spec), render_sv(spec), render_device_tree(spec), render_markdown(spec)}) {
    files.insert(files.end(), part.begin(), part.end());
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace dvp::npugen
