#include "tlm/lpddr5/traffic/line_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "tlm/lpddr5/traffic/traffic_source.h"

namespace dvp::lpddr5 {

namespace {

constexpr std::size_t buffer_bytes = 4 * line_file::longest_line;

std::FILE* open(const std::string& path) {
  if (path == "-") return stdin;
  struct stat about {};
  if (stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) {
    throw traffic_error(path + ": is a directory; give a trace file");
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw traffic_error(path + ": cannot be read: " + std::strerror(errno));
  return file;
}

}  // namespace

line_file::line_file(const std::string& path) : line_file(path == "-" ? "standard input" : path, open(path)) {}

line_file::line_file(const std::string& name, std::FILE* file) : name_(name), file_(file), buffer_(buffer_bytes) {}

bool line_file::refill() {
  if (ended_) return false;
  // Only the unfinished line moves.
  std::memmove(buffer_.data(), buffer_.data() + position_, filled_ - position_);
  filled_ -= position_;
  position_ = line_ = 0;
  const std::size_t got = std::fread(buffer_.data() + filled_, 1, buffer_.size() - filled_, file_.get());
  if (got == 0 && std::ferror(file_.get()) != 0) {
    throw traffic_error(name_ + ": cannot be read beyond line " + std::to_string(number_) + ": " +
                        std::strerror(errno));
  }
  filled_ += got;
  ended_ = got == 0;
  return got != 0;
}

bool line_file::next(const char*& begin, const char*& end) {
  std::size_t searched = 0;  // bytes of this line known to hold no end
  const char* stop = nullptr;
  for (;;) {
    const char* from = buffer_.data() + position_ + searched;
    stop = static_cast<const char*>(std::memchr(from, '\n', filled_ - position_ - searched));
    if (stop != nullptr) break;
    searched = filled_ - position_;
    if (searched > longest_line) break;
    if (!refill()) {
      if (searched == 0) return false;
      break;
    }
  }
  ++number_;
  line_ = position_;
  begin = buffer_.data() + position_;
  end = stop != nullptr ? stop : buffer_.data() + filled_;
  if (static_cast<std::size_t>(end - begin) > longest_line) {
    throw traffic_error(name_ + " line " + std::to_string(number_) + ": longer than " + std::to_string(longest_line) +
                        " bytes; is this a trace?");
  }
  position_ += static_cast<std::size_t>(end - begin) + (stop != nullptr ? 1 : 0);
  if (end != begin && end[-1] == '\r') --end;
  return true;
}

void line_file::unread() {
  position_ = line_;
  --number_;
}

}  // namespace dvp::lpddr5
