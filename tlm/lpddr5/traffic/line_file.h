// Lines of a file of any size through one buffer of fixed size.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace dvp::lpddr5 {

class line_file {
 public:
  static constexpr std::size_t longest_line = 64 * 1024;  // bytes

  // traffic_error naming path and reason when it cannot be read. "-" is the standard input.
  explicit line_file(const std::string& path);
  // Takes the file; `name` is for messages.
  line_file(const std::string& name, std::FILE* file);

  // The next line without its end ("\n" or "\r\n"), valid until the next call; false at the end of the file.
  // traffic_error for a line that is too long and for a file that cannot be read on.
  bool next(const char*& begin, const char*& end);
  // Makes next() give the last line again.
  void unread();

  const std::string& name() const { return name_; }
  std::uint64_t number() const { return number_; }  // of the last line, from 1

 private:
  struct closer {
    void operator()(std::FILE* file) const {
      if (file != stdin) std::fclose(file);
    }
  };
  bool refill();

  std::string name_;
  std::unique_ptr<std::FILE, closer> file_;
  std::vector<char> buffer_;
  std::size_t line_ = 0;      // start of the last line
  std::size_t position_ = 0;  // start of the next
  std::size_t filled_ = 0;
  std::uint64_t number_ = 0;
  bool ended_ = false;
};

}  // namespace dvp::lpddr5
