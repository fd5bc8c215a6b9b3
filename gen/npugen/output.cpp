#include "gen/npugen/output.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "gen/npugen/text.h"

namespace dvp::npugen {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  return std::string(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

void replace_file(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  const fs::path temporary = path.string() + ".tmp" + std::to_string(getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) {
    fs::remove(temporary);
    throw std::runtime_error("cannot write " + temporary.string() + "; check permissions and free space");
  }
  fs::rename(temporary, path);
}

// Files below `directory` that carry the banner but are not among `files`.
std::vector<fs::path> left_over(const fs::path& directory, const std::vector<rendered_file>& files) {
  std::vector<fs::path> result;
  if (!fs::is_directory(directory)) {
    return result;
  }
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    const std::string path = fs::relative(entry.path(), directory).generic_string();
    const bool known = std::any_of(files.begin(), files.end(), [&](const auto& file) { return file.path == path; });
    if (known || !entry.is_regular_file()) {
      continue;
    }
    std::ifstream stream(entry.path());
    std::string first_line;
    std::getline(stream, first_line);
    if (first_line.find(banner_lines({}).front()) != std::string::npos) {
      result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

void report_first_difference(const rendered_file& file, const std::string& found, std::ostream& report) {
  std::istringstream left(found);
  std::istringstream right(file.text);
  std::string left_line;
  std::string right_line;
  for (int number = 1;; ++number) {
    const bool more_left = static_cast<bool>(std::getline(left, left_line));
    const bool more_right = static_cast<bool>(std::getline(right, right_line));
    if (more_left != more_right || left_line != right_line || !more_left) {
      report << file.path << ":" << number << ": differs\n"
             << "  found:     " << (more_left ? left_line : "(end of file)") << "\n"
             << "  generated: " << (more_right ? right_line : "(end of file)") << "\n";
      return;
    }
  }
}

}  // namespace

void write_files(const fs::path& directory, const std::vector<rendered_file>& files) {
  for (const rendered_file& file : files) {
    if (read_file(directory / file.path) != file.text) {
      replace_file(directory / file.path, file.text);
    }
  }
  for (const fs::path& path : left_over(directory, files)) {
    fs::remove(path);
  }
}

int compare_files(const fs::path& directory, const std::vector<rendered_file>& files, std::ostream& report) {
  int differences = 0;
  for (const rendered_file& file : files) {
    const std::optional<std::string> found = read_file(directory / file.path);
    if (found == file.text) {
      continue;
    }
    ++differences;
    if (found) {
      report_first_difference(file, *found, report);
    } else {
      report << file.path << ": missing\n";
    }
  }
  for (const fs::path& path : left_over(directory, files)) {
    ++differences;
    report << fs::relative(path, directory).generic_string() << ": no longer generated\n";
  }
  return differences;
}

}  // namespace dvp::npugen
