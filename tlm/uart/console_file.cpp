#include "tlm/uart/console_file.h"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace dvp::uart {

namespace {

std::FILE* open_file(const std::string& path, const char* mode) {
  std::FILE* file = std::fopen(path.c_str(), mode);
  if (file == nullptr) throw std::runtime_error(path + ": " + std::strerror(errno));
  return file;
}

}  // namespace

// The input first: a wrong name of it must not empty the output.
console_file::console_file(const std::string& output, const std::string& input)
    : name_(output), input_(input.empty() ? nullptr : open_file(input, "rb")), output_(open_file(output, "wb")) {
  if (input_) next_ = std::getc(input_.get());
}

std::optional<std::uint8_t> console_file::poll() {
  if (next_ == EOF) return std::nullopt;
  const auto byte = static_cast<std::uint8_t>(next_);
  next_ = std::getc(input_.get());
  return byte;
}

std::string console_file::failure() {
  // A write that failed long ago left its mark on the stream.
  const bool whole = std::fflush(output_.get()) == 0 && std::ferror(output_.get()) == 0;
  return whole ? "" : name_ + ": could not be written whole; is the disk full?";
}

}  // namespace dvp::uart
