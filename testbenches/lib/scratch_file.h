// A file name of this process in the temporary directory, removed at the end of the scope, and what is in it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace dvp::test {

class scratch_file {
 public:
  explicit scratch_file(const std::string& name)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_" + name)) {}
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  std::string path() const { return path_.string(); }
  std::string text() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path path_;
};

}  // namespace dvp::test
