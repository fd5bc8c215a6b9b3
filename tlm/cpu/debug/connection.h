// Loopback TCP for one debugger at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace dvp::cpu::debug {

// A file descriptor that is closed at the end of the scope.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept;
  descriptor& operator=(descriptor&& other) noexcept;
  ~descriptor();
  int number() const { return number_; }

 private:
  int number_;
};

// A connected client.
class connection {
 public:
  explicit connection(descriptor socket) : socket_(std::move(socket)) {}

  int number() const { return socket_.number(); }
  // All of it. False when the client is gone, or takes nothing for some seconds.
  bool send(std::string_view bytes);
  // Appends what has arrived, without waiting. False when the client is gone.
  bool receive(std::string& bytes);
  // The last bytes have been sent: waits for a moment until the client has taken them.
  void finish();

 private:
  descriptor socket_;
};

// Listens on 127.0.0.1, so that only this machine can reach it.
class listener {
 public:
  // Port 0 takes any free one. std::runtime_error with the port and the reason when it cannot be had.
  explicit listener(std::uint16_t port);

  std::uint16_t port() const { return port_; }
  // Waiting ends, within a tenth of a second, when this says so.
  void give_up_when(std::function<bool()> over) { over_ = std::move(over); }
  // The next client; waits for one if told so, else nothing when none is there.
  std::optional<connection> accept(bool wait);
  // Sleeps until the client sent something or is gone; turns away others who come meanwhile.
  void wait_for(const connection& client);

 private:
  bool over() const { return over_ && over_(); }

  descriptor socket_;
  std::uint16_t port_;
  std::function<bool()> over_;
};

}  // namespace dvp::cpu::debug
