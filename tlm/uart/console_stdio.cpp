#include "tlm/uart/console_stdio.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace dvp::uart {

void console_stdio::put(std::uint8_t byte) {
  std::putchar(byte);
  std::fflush(stdout);
}

std::optional<std::uint8_t> console_stdio::poll() {
  if (read_ahead_.empty() && !ended_) {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, 0) <= 0) return std::nullopt;
    std::array<std::uint8_t, 256> bytes{};
    const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    ended_ = count <= 0;
    read_ahead_.insert(read_ahead_.end(), bytes.begin(), bytes.begin() + (ended_ ? 0 : count));
  }
  if (read_ahead_.empty()) return std::nullopt;
  const std::uint8_t byte = read_ahead_.front();
  read_ahead_.pop_front();
  return byte;
}

}  // namespace dvp::uart
