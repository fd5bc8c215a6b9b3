// A text file that is written as a run goes on, through a buffer.
//
// It grows beside its place as PATH.part and takes its name when it is complete: what an earlier run left stays until
// then, and a run that fails early leaves nothing. What is no regular file (/dev/stdout, a pipe) is written directly.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

namespace dvp::cpu::trace {

class output_file {
 public:
  // std::runtime_error with path and reason when it cannot be written.
  explicit output_file(const std::string& path);

  void write(std::string_view text);
  // The last of it, and its name. std::runtime_error when any of it could not be written.
  void finish();

 private:
  // Closes the file, and removes what was not completed.
  struct closer {
    std::string part;  // empty: nothing to remove
    void operator()(std::FILE* file) const;
  };

  std::string path_;
  std::string place_;  // that the part is renamed to
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace dvp::cpu::trace
