#include "tlm/core/host_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

namespace dvp::core {

namespace {

std::uint8_t* reserve(std::size_t bytes) {
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) {
    throw std::runtime_error("cannot reserve " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  }
  return static_cast<std::uint8_t*>(pages);
}

}  // namespace

host_pages::host_pages(std::size_t bytes) : bytes_(bytes), data_(reserve(bytes)) {}
host_pages::~host_pages() {
  munmap(data_, bytes_);
}

}  // namespace dvp::core
