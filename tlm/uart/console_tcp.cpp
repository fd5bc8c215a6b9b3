#include "tlm/uart/console_tcp.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

namespace dvp::uart {

namespace {

constexpr std::chrono::milliseconds last_chance{1000};

void require(bool good, std::uint16_t port) {
  if (!good) throw std::runtime_error("tcp:" + std::to_string(port) + ": " + std::strerror(errno));
}

}  // namespace

console_tcp::console_tcp(std::uint16_t port)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
  require(listener_.is_open(), port);
  const int yes = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  socklen_t bytes = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  require(::bind(listener_.get(), generic, bytes) == 0 && ::listen(listener_.get(), 1) == 0 &&
              ::getsockname(listener_.get(), generic, &bytes) == 0,
          port);
  port_ = ntohs(address.sin_port);
}

console_tcp::~console_tcp() {
  using clock = std::chrono::steady_clock;
  const auto end = clock::now() + last_chance;
  serve();
  while (client_.is_open() && !output_.empty() && clock::now() < end) {
    pollfd waiting{client_.get(), POLLOUT, 0};
    ::poll(&waiting, 1, 10);
    serve();
  }
}

void console_tcp::serve() {
  for (;;) {
    descriptor caller(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!caller.is_open()) break;
    if (!client_.is_open()) client_ = std::move(caller);
  }
  if (client_.is_open() && !(output_.write_to(client_.get()) && input_.read_from(client_.get()))) client_.reset();
}

void console_tcp::put(std::uint8_t byte) {
  output_.put(byte);
  serve();
}

std::optional<std::uint8_t> console_tcp::poll() {
  serve();
  return input_.take();
}

}  // namespace dvp::uart
