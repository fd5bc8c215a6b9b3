// A TCP server on 127.0.0.1 for one client at a time (`nc 127.0.0.1 PORT`, `telnet`). A client that comes while another
// is there is turned away; one that closes its sending side has left, and the next may come. Output without a client
// waits, bounded (waiting_output). The server works while the simulation puts bytes or asks for some.
#pragma once

#include "tlm/uart/console.h"
#include "tlm/uart/console_link.h"

namespace dvp::uart {

class console_tcp : public console {
 public:
  // port: 0 lets the host choose. std::runtime_error where the port is not to be had.
  explicit console_tcp(std::uint16_t port);
  // Gives a client that is there up to a second to take what waits.
  ~console_tcp() override;

  std::uint16_t port() const { return port_; }
  std::uint64_t dropped() const { return output_.dropped(); }

  void put(std::uint8_t byte) override;
  std::optional<std::uint8_t> poll() override;
  bool may_send() const override { return true; }

 private:
  void serve();

  descriptor listener_;
  descriptor client_;
  std::uint16_t port_ = 0;
  waiting_output output_;
  ready_input input_;
};

}  // namespace dvp::uart
