#include "tlm/platform/shared_files.h"

#include <sys/stat.h>

#include <filesystem>

#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {

namespace fs = std::filesystem;

// Two files are one when their identities are equal; empty for what may be shared.
std::string identity(const std::string& path) {
  struct stat what {};
  if (stat(path.c_str(), &what) == 0) {
    if (S_ISCHR(what.st_mode)) return {};
    return std::to_string(what.st_dev) + ' ' + std::to_string(what.st_ino);
  }
  constexpr int most_links = 40;  // the kernel's own limit
  fs::path place = path;
  std::error_code error;
  for (int i = 0; i < most_links && fs::is_symlink(place, error); ++i) {
    place = place.parent_path() / fs::read_symlink(place, error);
  }
  return fs::weakly_canonical(fs::absolute(place, error), error).string();
}

}  // namespace

void refuse_shared_files(const std::vector<named_file>& outputs, const std::vector<named_file>& inputs) {
  const auto compare = [](const named_file& output, const named_file& other, const char* why) {
    const std::string own = identity(output.path);
    if (own.empty() || own != identity(other.path)) return;
    throw usage_error(output.option + ' ' + output.path + ": is also the file of " + other.option + why);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const named_file& input : inputs) compare(outputs[i], input, ", which would be overwritten; give another");
    for (std::size_t j = 0; j < i; ++j) compare(outputs[i], outputs[j], "; give each its own");
  }
}

}  // namespace dvp::platform
