// What a debugger may do to the harts of a platform. Implemented by the RV64 seat, used by the GDB server.
//
// Every call happens while no instruction executes and takes no simulated time: a debugged run has the results of an
// undebugged one unless the debugger writes something.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dvp::cpu::debug {

enum class stop_reason : std::uint8_t {
  stepped,
  breakpoint,   // the instruction at pc has not executed
  watchpoint,   // the access has happened
  interrupted,  // the debugger asked
  fault,        // the run is about to end with a report; the debugger may look around first
  exited,       // the run is over; no further call but exit_code()
};

struct stop {
  stop_reason reason = stop_reason::interrupted;
  std::uint32_t hart = 0;
  std::uint64_t watched_address = 0;  // of a watchpoint
};

enum class watch : std::uint8_t { write, read, access };

// Registers as GDB numbers them for riscv:rv64: 0..31 x0..x31, 32 pc, 33..64 f0..f31, 65 + n CSR n.
inline constexpr std::uint32_t pc_number = 32;
inline constexpr std::uint32_t first_float = 33;
inline constexpr std::uint32_t first_csr = 65;

class target {
 public:
  virtual std::uint32_t harts() const = 0;
  // Register by GDB's number; nothing when it does not exist. write: false when it does not exist or is read-only.
  virtual std::optional<std::uint64_t> read_register(std::uint32_t hart, std::uint32_t number) = 0;
  virtual bool write_register(std::uint32_t hart, std::uint32_t number, std::uint64_t value) = 0;
  // As the hart sees it, without side effects (debug transport); how many bytes could be moved, from the first on.
  virtual std::size_t read_memory(std::uint64_t address, std::span<std::uint8_t> bytes) = 0;
  virtual std::size_t write_memory(std::uint64_t address, std::span<const std::uint8_t> bytes) = 0;
  // A breakpoint is an address, of all harts; setting one twice is one. Memory is not changed for it.
  virtual void set_breakpoint(std::uint64_t address) = 0;
  virtual void clear_breakpoint(std::uint64_t address) = 0;
  virtual void set_watchpoint(watch kind, std::uint64_t address, std::uint64_t bytes) = 0;
  virtual void clear_watchpoint(watch kind, std::uint64_t address, std::uint64_t bytes) = 0;
  // One line of text: where this hart is (its name, asleep or running, its function), for `info threads`.
  virtual std::string describe(std::uint32_t hart) = 0;
  // What "monitor ..." answers; empty for an unknown command.
  virtual std::string monitor(const std::string& command) = 0;
  virtual int exit_code() const = 0;

 protected:
  ~target() = default;
};

// What the debugger wants next of a stopped platform.
enum class resume_action : std::uint8_t { run, step, detach, kill };
struct resume {
  resume_action action = resume_action::run;
  std::uint32_t hart = 0;  // that a step is for; the others stand still meanwhile
};

// The side the seat calls, on its own thread of control.
class server {
 public:
  // The target stopped: talks to the debugger until it lets go. Blocks the host, not the simulated time.
  virtual resume stopped(const stop& why) = 0;
  // Cheap question between slices: does the debugger want the target to stop (Ctrl-C, or a new connection)?
  virtual bool wants_stop() = 0;

 protected:
  ~server() = default;
};

}  // namespace dvp::cpu::debug
