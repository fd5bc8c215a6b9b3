#include "tlm/uart/console_pty.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace dvp::uart {

namespace {

constexpr useconds_t between_looks_us = 5000;

void require(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("pty: no ") + what + ": " + std::strerror(errno));
}

}  // namespace

console_pty::console_pty(std::chrono::milliseconds last_chance)
    : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)), last_chance_(last_chance) {
  require(master_.is_open() && ::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0, "pseudo terminal");
  char name[64];
  require(::ptsname_r(master_.get(), name, sizeof name) == 0, "name of the pseudo terminal");
  path_ = name;
  slave_ = descriptor(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios mode{};
  require(slave_.is_open() && ::tcgetattr(slave_.get(), &mode) == 0, "access to the pseudo terminal");
  ::cfmakeraw(&mode);
  require(::tcsetattr(slave_.get(), TCSANOW, &mode) == 0, "raw mode");
}

// What the terminal holds is gone with its master. Only poll() sees all of it: bytes on their way from master to
// terminal are not among those that FIONREAD counts.
console_pty::~console_pty() {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + last_chance_;
  const auto unread = [this] {
    pollfd terminal{slave_.get(), POLLIN, 0};
    return output_.write_to(master_.get()) && (!output_.empty() || ::poll(&terminal, 1, 0) > 0);
  };
  while (unread() && clock::now() < end) ::usleep(between_looks_us);
}

void console_pty::put(std::uint8_t byte) {
  output_.put(byte);
  output_.write_to(master_.get());
}

std::optional<std::uint8_t> console_pty::poll() {
  output_.write_to(master_.get());
  input_.read_from(master_.get());
  return input_.take();
}

}  // namespace dvp::uart
