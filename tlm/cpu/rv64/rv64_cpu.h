// The CPU seat that executes an RV64 image: one hart (hart.h) as a SystemC module.
//
// Time is what the cost model says. The hart runs ahead of the kernel by at most the quantum and meets devices at the
// exact time: it synchronises before every register access, before it sleeps and whenever it looks at its interrupt
// lines. A line that changes at time T is seen by instructions that start after T. While an interrupt could be taken
// (mstatus.MIE, mie), the hart runs no further than the next activity of the kernel, so interrupts are taken at the
// same instruction whatever the quantum. The quantum changes only how long a hart does not see what others write to
// shared memory; registers and interrupts are exact. A quantum of zero synchronises after every instruction.
//
// Memory is used by DMI where the bus grants it (read-only grants are respected); DMI latencies are not charged, the
// cost model's stalls stand for them. With direct_memory off every load and store is a transaction, code still comes
// from DMI memory, and atomics use it all the same.
//
// The run ends when the hart cannot go on (a fault that its own trap handler repeats for ever); finished() is notified
// then and error() says why. A sleeping hart ends nothing: the platform sees asleep().
//
// Figures, current after update_figures() and at the end, below the module's base name: instructions, cycles (without
// sleep), sleep_ps, sleeps, exceptions, interrupts, register_reads, register_writes, bus_errors. Timeline: track of the
// module's base name in process "system" with slices "run", "trap" (from entering a handler to mret) and "sleep".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/cpu/rv64/cost_model.h"
#include "tlm/cpu/rv64/hart.h"
#include "tlm_utils/simple_initiator_socket.h"

namespace dvp::cpu::rv64 {

struct rv64_cpu_config {
  std::uint32_t hart = 0;      // mhartid
  std::uint64_t reset_pc = 0;  // of the boot ROM
  std::uint64_t clock_hz = 0;  // 1 or more, at most 1 THz
  cost_model costs;
  sc_core::sc_time quantum;  // most local time; zero: none
  bool direct_memory = true;
};

class rv64_cpu;

// Who decides between slices what a hart may do: a debugger (rv64_cluster.h). Without one the hart just runs.
class supervisor {
 public:
  // Before a slice of this hart: instructions it may execute, 0 for any number. May block the host.
  virtual std::uint64_t may_run(rv64_cpu& cpu) = 0;
  // The hart stopped for one of stepped, breakpoint, watchpoint, fault. May block the host; afterwards the hart goes on
  // (after a fault it ends).
  virtual void stopped(rv64_cpu& cpu, slice_end why) = 0;
  // A hart executed fence.i.
  virtual void code_changed() = 0;

 protected:
  ~supervisor() = default;
};

class rv64_cpu : public sc_core::sc_module, private hart_surroundings {
 public:
  // A bad clock or cost model is a fatal report with the module's name. Figures and timeline outlive the module.
  rv64_cpu(const sc_core::sc_module_name& name, const rv64_cpu_config& config, core::statistics& figures,
           core::timeline& timeline);
  ~rv64_cpu() override;

  tlm_utils::simple_initiator_socket<rv64_cpu> socket;
  sc_core::sc_in<bool> software;
  sc_core::sc_in<bool> timer;
  sc_core::sc_in<bool> external;

  const sc_core::sc_event& finished() const { return finished_; }
  bool done() const { return done_; }
  // Why the hart cannot go on, one sentence; empty while it can.
  const std::string& error() const { return error_; }
  bool asleep() const { return hart_.asleep(); }
  std::uint32_t id() const { return config_.hart; }

  // The hart itself, for debuggers and observers, while it executes nothing.
  hart& core() { return hart_; }
  const hart& core() const { return hart_; }
  void supervise(supervisor* by) { supervisor_ = by; }
  // When the timer line of this hart rises next, as the timer's registers stand (sc_max_time(): not at all). With it a
  // hart that enables the timer's interrupt alone need not stop at every activity of the kernel to take it on time. For
  // the only hart: what others did to its timer would be noticed late, by up to the quantum.
  void forecast_timer(std::function<sc_core::sc_time()> next) { next_timer_ = std::move(next); }
  // mtime at the kernel's time, ns, which the CSR time follows from then on; without it time counts simulated ns.
  // Another hart's write to mtime is noticed late by at most the quantum.
  void follow_time(std::function<std::uint64_t()> mtime) { mtime_ = std::move(mtime); }

  // Local time of the hart, never before the kernel's.
  sc_core::sc_time local_time() const;
  // Debug transport: how many bytes could be moved, from the first on.
  std::size_t debug_read(std::uint64_t address, std::uint8_t* data, std::size_t bytes);
  std::size_t debug_write(std::uint64_t address, const std::uint8_t* data, std::size_t bytes);
  // Never returns: the run is ending and this hart executes no more. On the hart's own thread only.
  void hold();
  // Brings the figures up to local time.
  void update_figures();

 private:
  // A line and when it changed, so that what changes now is seen after now.
  struct line {
    bool level = false;
    bool before = false;
    sc_core::sc_time changed;
    bool settled(const sc_core::sc_time& now) const { return changed == now ? before : level; }
    void change(bool to, const sc_core::sc_time& now);
  };
  // Addresses that no memory is granted for; none of them inside another.
  struct range {
    std::uint64_t first;
    std::uint64_t last;
  };

  bool read(std::uint64_t address, std::uint32_t bytes, std::uint64_t& value) override;
  bool write(std::uint64_t address, std::uint32_t bytes, std::uint64_t value) override;
  std::optional<granted_memory> grant(std::uint64_t address) override;
  std::uint64_t time_ns() override;
  void code_changed() override;

  void run();
  void lines_changed();
  void end_of_simulation() override;
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);

  bool transfer(tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes, std::uint64_t& value);
  std::size_t debug(tlm::tlm_command command, std::uint64_t address, std::uint8_t* data, std::size_t bytes);
  void synchronise();
  void sleep();
  std::uint64_t slice_limit() const;
  bool has_forecast() const { return next_timer_ && hart_.enabled_interrupts() == timer_interrupt; }
  // How long the interrupt lines surely stay as they are.
  sc_core::sc_time quiet_time() const;
  // Lines as instructions that start now see them; and as they are, with what changed at this very time.
  std::uint64_t settled_lines() const;
  std::uint64_t levels() const;
  void look_at_lines();
  void act(slice_end why);
  std::string path(const char* figure) const;
  // Clock units to picoseconds since the start of simulation, rounded down; and back, rounded up.
  std::uint64_t to_ps(std::uint64_t units) const;
  std::uint64_t to_units(std::uint64_t ps) const;
  const char* state() const { return hart_.in_trap() ? "trap" : "run"; }
  void tell(const char* activity);

  rv64_cpu_config config_;
  hart hart_;
  supervisor* supervisor_ = nullptr;
  std::function<sc_core::sc_time()> next_timer_;
  std::function<std::uint64_t()> mtime_;
  sc_core::sc_event finished_;
  sc_core::sc_event line_event_;
  line lines_[3];  // software, timer, external
  std::vector<range> refused_;
  std::string error_;
  bool done_ = false;

  core::timeline& timeline_;
  std::uint32_t track_;
  const char* activity_ = nullptr;
  sc_core::sc_time activity_since_;

  std::uint64_t& instructions_;
  std::uint64_t& cycles_;
  std::uint64_t& sleep_ps_;
  std::uint64_t& sleeps_;
  std::uint64_t& exceptions_;
  std::uint64_t& interrupts_;
  std::uint64_t& register_reads_;
  std::uint64_t& register_writes_;
  std::uint64_t& bus_errors_;
};

}  // namespace dvp::cpu::rv64
