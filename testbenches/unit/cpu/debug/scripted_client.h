// A debugger's end of the connection, by hand: sends bytes, waits for packets. Every wait is bounded.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "tlm/cpu/debug/packet.h"

namespace dvp::cpu::debug {

class scripted_client {
 public:
  explicit scripted_client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("cannot connect");
    }
  }
  scripted_client(const scripted_client&) = delete;
  scripted_client& operator=(const scripted_client&) = delete;
  ~scripted_client() { hang_up(); }

  void hang_up() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  // False when the server is gone.
  bool send(const std::string& bytes) {
    return ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size());
  }

  // The next byte; -1 when the server hung up, -2 when nothing came in time.
  int byte(int milliseconds = 5000) {
    pollfd waiting = {socket_, POLLIN, 0};
    if (::poll(&waiting, 1, milliseconds) <= 0) return -2;
    std::uint8_t value = 0;
    return ::recv(socket_, &value, 1, 0) == 1 ? value : -1;
  }

  // The next packet with everything before it, such as "+packet OK".
  std::string answer() {
    std::string seen;
    for (;;) {
      const int next = byte();
      if (next == -1) return seen + "hung up";
      if (next == -2) return seen + "silence";
      switch (reader_.take(static_cast<std::uint8_t>(next))) {
        case packet_reader::event::packet:
          return seen + "packet " + reader_.data();
        case packet_reader::event::positive:
          seen += "+";
          break;
        case packet_reader::event::negative:
          seen += "-";
          break;
        case packet_reader::event::none:
          break;
        default:
          return seen + "not a packet";
      }
    }
  }

  // Sends a packet; the data of the answer, acknowledged.
  std::string ask(const std::string& packet) {
    send(framed(packet));
    const std::string expected = quiet_ ? "packet " : "+packet ";
    const std::string got = answer();
    if (!got.starts_with(expected)) return "unexpected " + got;
    if (!quiet_) send("+");
    return got.substr(expected.size());
  }
  // A packet that lets the target run and is answered when it stops.
  void tell(const std::string& packet) {
    send(framed(packet));
    if (!quiet_) byte();
  }
  std::string stop() {
    const std::string got = answer();
    if (!quiet_) send("+");
    return got;
  }
  void be_quiet() {
    ask("QStartNoAckMode");
    quiet_ = true;
  }

 private:
  int socket_;
  packet_reader reader_;
  bool quiet_ = false;
};

}  // namespace dvp::cpu::debug
