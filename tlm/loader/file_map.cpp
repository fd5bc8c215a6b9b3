#include "tlm/loader/file_map.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tlm/loader/load_error.h"

namespace dvp::loader {
namespace {

// Closes on scope exit; a mapping outlives its descriptor.
struct descriptor {
  int number;
  ~descriptor() {
    if (number >= 0) {
      close(number);
    }
  }
};

}  // namespace

file_map::file_map(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for a writer.
  const descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  struct stat about {};
  if (file.number < 0 || fstat(file.number, &about) != 0) {
    const int cause = errno;
    throw load_error(path, "", cause == ENOENT ? "no such file" : std::string("cannot be opened: ") + strerror(cause),
                     cause == ENOENT ? "check the path" : "");
  }
  if (S_ISDIR(about.st_mode)) {
    throw load_error(path, "", "is a directory", "name a file in it");
  }
  if (!S_ISREG(about.st_mode)) {
    throw load_error(path, "", "is not a regular file", "copy it to a file first");
  }
  if (about.st_size == 0) {
    throw load_error(path, "", "is empty", "build, copy or download it again");
  }
  const auto size = static_cast<std::size_t>(about.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
  if (memory == MAP_FAILED) {
    throw load_error(path, "", std::string("cannot be mapped: ") + strerror(errno));
  }
  data_ = static_cast<const std::byte*>(memory);
  size_ = size;
}

file_map::file_map(file_map&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

file_map& file_map::operator=(file_map&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

file_map::~file_map() {
  if (data_ != nullptr) {
    munmap(const_cast<std::byte*>(data_), size_);
  }
}

}  // namespace dvp::loader
