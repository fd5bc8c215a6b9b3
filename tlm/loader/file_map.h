// A whole file as read-only memory.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace dvp::loader {

// Maps a regular file. The file must keep its length while it is mapped: reading pages that another program cut off
// ends the process. Movable; the bytes stay where they are.
class file_map {
 public:
  // Throws load_error when there is no such file, it is a directory or otherwise not a regular file, it is empty, or
  // it may not be read.
  explicit file_map(const std::string& path);
  file_map(file_map&& other) noexcept;
  file_map& operator=(file_map&& other) noexcept;
  ~file_map();

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace dvp::loader
