// The commands of GDB's remote serial protocol, one packet at a time; no sockets in here.
//
// Threads are harts: thread n is hart n - 1. Multiprocess ids, non-stop mode, reverse execution, tracepoints and files
// are not offered; a packet that is not known is answered with an empty one, as the protocol wants it. An error is
// "E" and the errno of its kind: 03 no such thread, 07 too long, 0e no such memory or register, 16 malformed.
// Signals passed with a resumption mean nothing to a bare machine and are ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlm/cpu/debug/debug_target.h"
#include "tlm/cpu/debug/hex.h"
#include "tlm/cpu/debug/point_set.h"
#include "tlm/cpu/debug/run_plan.h"
#include "tlm/cpu/debug/target_description.h"

namespace dvp::cpu::debug {

// What follows from a packet.
struct outcome {
  std::vector<std::string> replies;       // data of packets, to be framed and sent in this order
  std::optional<resume_action> released;  // the target may go on
  bool no_acknowledgements = false;       // from behind the reply on
};

class protocol {
 public:
  protocol(target& machine, std::vector<memory_range> memory)
      : machine_(machine), points_(machine), memory_(std::move(memory)) {}

  // A debugger connects anew.
  void connected();
  // It is gone, or detached: the target is as if it had never been there.
  void disconnected() { points_.clear_all(); }

  // The target stands, for this reason; `asked` by the interrupt byte.
  void stopped(const stop& why, bool asked);
  // The reply that tells so.
  std::string stop_reply() const;

  // Only while the target stands.
  outcome handle(std::string_view packet);

  // After a release with resume_action::run.
  const run_plan& plan() const { return plan_; }
  const point_set& points() const { return points_; }

 private:
  outcome released(const run_plan& plan);
  outcome query(std::string_view packet);
  outcome letter_v(std::string_view packet);
  outcome resume_at(field_reader in, bool signal, bool step);
  std::string select_thread(field_reader in);
  std::string supported(std::string_view features);
  std::string read_registers();
  std::string write_registers(field_reader in);
  std::string read_register(field_reader in);
  std::string write_register(field_reader in);
  std::string read_memory(field_reader in);
  std::string write_memory(field_reader in, bool binary);
  std::string change_point(field_reader in, bool set);
  std::string transfer(field_reader in);
  std::string thread_list() const;
  outcome monitor(field_reader in);
  std::optional<std::uint32_t> hart_of(field_reader in) const;
  bool set_register(std::uint32_t number, std::uint64_t value);

  target& machine_;
  point_set points_;
  std::vector<memory_range> memory_;
  run_plan plan_;
  stop why_;
  bool asked_ = false;
  std::uint32_t hart_ = 0;                     // of g, G, p, P, m, M, X
  std::optional<std::uint32_t> resumed_hart_;  // of c, s, C, S; nothing: all
  bool tells_breakpoints_ = false;             // the client knows swbreak and hwbreak
  std::string target_xml_;                     // made once a connection
  std::string threads_xml_;                    // of the transfer under way
};

}  // namespace dvp::cpu::debug
