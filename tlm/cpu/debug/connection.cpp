#include "tlm/cpu/debug/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace dvp::cpu::debug {

namespace {

constexpr timeval send_patience = {5, 0};
constexpr int finish_patience_ms = 200;

[[noreturn]] void refuse(std::uint16_t port) {
  throw std::runtime_error("GDB server: port " + std::to_string(port) +
                           " of 127.0.0.1 cannot be listened on: " + std::strerror(errno) + "; choose another");
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

constexpr int look_ms = 100;  // between two looks whether a wait is over

// Waits until one of them can be read, or for so many milliseconds.
void wait_until_readable(pollfd* sockets, nfds_t count, int milliseconds) {
  while (poll(sockets, count, milliseconds) < 0 && errno == EINTR) {
  }
}

}  // namespace

descriptor::descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

descriptor& descriptor::operator=(descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

descriptor::~descriptor() {
  if (number_ >= 0) close(number_);
}

bool connection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(number(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool connection::receive(std::string& bytes) {
  constexpr std::size_t chunk = 4096;
  const std::size_t at_first = bytes.size();
  for (;;) {
    const std::size_t before = bytes.size();
    bytes.resize(before + chunk);
    const ssize_t got = recv(number(), bytes.data() + before, chunk, MSG_DONTWAIT);
    const int reason = errno;
    bytes.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got == static_cast<ssize_t>(chunk)) return true;  // a flood is taken in turns
    if (got > 0) continue;
    if (got < 0 && reason == EINTR) continue;
    // What came before the end is still to be heard.
    return before != at_first || (got < 0 && (reason == EAGAIN || reason == EWOULDBLOCK));
  }
}

void connection::finish() {
  shutdown(number(), SHUT_WR);
  pollfd socket = {number(), POLLIN, 0};
  std::string ignored;
  do {
    ignored.clear();
    wait_until_readable(&socket, 1, finish_patience_ms);
  } while (socket.revents != 0 && receive(ignored) && !ignored.empty());
}

listener::listener(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)), port_(port) {
  if (socket_.number() < 0) refuse(port);
  const int on = 1;
  setsockopt(socket_.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = loopback(port);
  if (bind(socket_.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) refuse(port);
  if (listen(socket_.number(), 16) != 0) refuse(port);
  socklen_t length = sizeof address;
  if (getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &length) != 0) refuse(port);
  port_ = ntohs(address.sin_port);
}

std::optional<connection> listener::accept(bool wait) {
  for (;;) {
    pollfd waiting = {socket_.number(), POLLIN, 0};
    wait_until_readable(&waiting, 1, wait ? look_ms : 0);
    if (waiting.revents == 0) {
      if (wait && !over()) continue;
      return std::nullopt;
    }
    descriptor client(accept4(socket_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.number() < 0) {  // gone again
      if (wait) continue;
      return std::nullopt;
    }
    const int on = 1;
    setsockopt(client.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(client.number(), SOL_SOCKET, SO_SNDTIMEO, &send_patience, sizeof send_patience);
    return connection(std::move(client));
  }
}

void listener::wait_for(const connection& client) {
  while (!over()) {
    pollfd sockets[] = {{client.number(), POLLIN, 0}, {socket_.number(), POLLIN, 0}};
    wait_until_readable(sockets, 2, look_ms);
    if (sockets[0].revents != 0) return;
    if (sockets[1].revents != 0) accept(false);  // and close
  }
}

}  // namespace dvp::cpu::debug
