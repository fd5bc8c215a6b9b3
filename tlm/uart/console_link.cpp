#include "tlm/uart/console_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace dvp::uart {

namespace {

constexpr std::size_t chunk = 512;

bool try_again(ssize_t count) {
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

// A socket whose client is gone must not end the program with SIGPIPE; other descriptors know no send().
ssize_t write_some(int number, const std::uint8_t* bytes, std::size_t count) {
  const ssize_t sent = ::send(number, bytes, count, MSG_NOSIGNAL);
  return sent < 0 && errno == ENOTSOCK ? ::write(number, bytes, count) : sent;
}

}  // namespace

void waiting_output::put(std::uint8_t byte) {
  if (bytes_.size() == most_waiting) {
    bytes_.pop_front();
    ++dropped_;
  }
  bytes_.push_back(byte);
}

bool waiting_output::write_to(int number) {
  while (!bytes_.empty()) {
    std::array<std::uint8_t, chunk> piece{};
    const std::size_t count = std::min(piece.size(), bytes_.size());
    std::copy_n(bytes_.begin(), count, piece.begin());
    const ssize_t written = write_some(number, piece.data(), count);
    if (written <= 0) return try_again(written);
    bytes_.erase(bytes_.begin(), bytes_.begin() + written);
  }
  return true;
}

bool ready_input::read_from(int number) {
  if (!bytes_.empty()) return true;
  std::array<std::uint8_t, chunk> piece{};
  const ssize_t count = ::read(number, piece.data(), piece.size());
  if (count <= 0) return try_again(count);
  bytes_.insert(bytes_.end(), piece.begin(), piece.begin() + count);
  return true;
}

std::optional<std::uint8_t> ready_input::take() {
  if (bytes_.empty()) return std::nullopt;
  const std::uint8_t byte = bytes_.front();
  bytes_.pop_front();
  return byte;
}

}  // namespace dvp::uart
