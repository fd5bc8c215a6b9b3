#include "tlm/platform/file_digest.h"

#include <map>
#include <span>

#include "tlm/loader/file_map.h"
#include "tlm/loader/sha256.h"

namespace dvp::platform {

namespace fs = std::filesystem;

std::string file_digest(const fs::path& path) {
  static std::map<fs::path, std::string> known;
  const auto place = known.find(path);
  if (place != known.end()) return place->second;
  const loader::file_map file(path.string());
  return known[path] = loader::sha256(file.bytes());
}

std::string text_digest(const std::string& text) {
  return loader::sha256(std::as_bytes(std::span(text)));
}

}  // namespace dvp::platform
