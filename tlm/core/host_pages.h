// Zeroed host memory that takes real pages only where it is touched.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dvp::core {

class host_pages {
 public:
  // std::runtime_error with size and reason when the host refuses; bytes is 1 or more.
  explicit host_pages(std::size_t bytes);
  host_pages(const host_pages&) = delete;
  host_pages& operator=(const host_pages&) = delete;
  ~host_pages();

  std::uint8_t* data() const { return data_; }

 private:
  std::size_t bytes_;
  std::uint8_t* data_;
};

}  // namespace dvp::core
