// A GDB server on loopback TCP for the harts of a platform: `target remote :PORT` of gdb-multiarch.
//
// The first stop waits until a debugger connects, so a platform that reports one before the first instruction begins
// under its control. A debugger may detach, or its connection break: its breakpoints are taken back and the target
// runs on; connecting again stops it. Meanwhile stops are not waited for. One debugger at a time, others are turned
// away, and so is a peer that does not begin as a debugger does.
//
// What a debugger looks at costs no simulated time, but when it interrupts is a matter of the host's clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tlm/cpu/debug/connection.h"
#include "tlm/cpu/debug/debug_target.h"
#include "tlm/cpu/debug/packet.h"
#include "tlm/cpu/debug/protocol.h"

namespace dvp::cpu::debug {

class gdb_server final : public server {
 public:
  // Listens on 127.0.0.1; std::runtime_error when the port cannot be had. 0 takes any free one. `memory` is what GDB
  // may touch; empty: everything. The target must outlive the server.
  gdb_server(target& machine, std::uint16_t port, std::vector<memory_range> memory = {})
      : gdb_server(machine, listener(port), std::move(memory)) {}
  // On a port that has been taken already.
  gdb_server(target& machine, listener port, std::vector<memory_range> memory = {});

  std::uint16_t port() const { return listener_.port(); }
  // The target is killed at the stop at which this says so, also while a debugger is waited for.
  void give_up_when(std::function<bool()> over);
  bool connected() const { return client_.has_value(); }

  resume stopped(const stop& why) override;
  // Asks the sockets a few hundred times a second at most.
  bool wants_stop() override;

 private:
  using host_clock = std::chrono::steady_clock;

  bool poll_due();
  bool look();
  void adopt(std::optional<connection> client);
  void drop();
  void read_on();
  resume talk();
  void hold(std::optional<std::string> packet);
  std::optional<resume> act(const std::optional<std::string>& packet);
  void send(const std::string& bytes);

  target& machine_;
  listener listener_;
  std::function<bool()> over_ = [] { return false; };
  protocol protocol_;
  std::optional<connection> client_;
  packet_reader reader_;
  std::string arrived_;                          // bytes not yet given to the reader
  std::deque<std::optional<std::string>> held_;  // packets to be answered; nothing: one that was too long
  std::string last_sent_;                        // for a client that missed it
  host_clock::time_point last_poll_{};
  bool waits_for_first_ = true;
  bool first_byte_ = true;  // of this client
  bool acknowledges_ = true;
  bool owes_stop_reply_ = false;
  bool interrupted_ = false;  // the client asked for the stop that comes
};

}  // namespace dvp::cpu::debug
