// What is at the other end of a serial line, outside the simulation.
//
// Calls never block and never throw. What comes from outside comes when the host happens to have it, so input from a
// terminal or a socket is the one thing about a run that cannot be repeated; input from a file can.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace dvp::uart {

class console {
 public:
  virtual ~console() = default;

  // A byte from the serial port.
  virtual void put(std::uint8_t byte) = 0;
  // The next byte for the serial port, if there is one now.
  virtual std::optional<std::uint8_t> poll() = 0;
  // False when poll() will never return a byte again, so that nobody needs to ask.
  virtual bool may_send() const = 0;
  // Why what was put is lost, one sentence; empty when it is not, as far as the host tells. To be asked at the end.
  virtual std::string failure() { return {}; }
};

}  // namespace dvp::uart
