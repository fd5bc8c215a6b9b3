// The CPU seat that runs firmware compiled for the host.
//
// The firmware is a function; it runs in this module's thread and reaches the machine through the services below,
// which only it may call. Host instructions take no simulated time. Time passes by
//   spend(kind, amount)   amount * cycles of that kind of work (cost table)
//   spend(..., bytes)     that, or what moving the bytes over the bus takes (memory_stream.h), whichever is longer
//   read32, write32       register_access_cycles, then the delay the bus returns
//   look_elsewhere        register_access_cycles
//   wait_for_interrupt    until the line is high or the timeout ends
//   wait_until            until what it waits for
// A cycle is the clock period rounded to the kernel's resolution. Spent time is local until the next register access,
// stream, wait or synchronise(), or until it reaches the quantum; registers and interrupts are always met at the exact
// time, so for firmware that shares memory with devices by register, interrupt or synchronise() the quantum changes
// nothing but speed.
//
// Bus errors reach the firmware as values, never as exceptions: read32 returns all ones, last_access_failed() says so.
// memory() is host memory: its use is untimed and in no trace, but for what spend() is told of it.
//
// The run ends when the function returns or throws; finished() is notified then, and error() holds the message of
// what was thrown. A report thrown by a model during an access is no fault of the firmware and passes to the kernel.
// Interrupt is a level; the seat never acknowledges anything by itself.
//
// Figures, below the module's base name: register_reads, register_writes, bus_errors, cycles, busy_ps, wait_ps,
// waits, wait_timeouts, work.<kind> (amounts), stream_bytes_read, stream_bytes_written, stream_ps (from the first burst
// to the answer of the last), exposed_ps (of that, what passed after the computation beside it). Timeline: a track with
// merged slices of work, "memory" (exposed), "registers", "harts" and "wait".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "tlm/core/merged_slices.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/cpu/memory_stream.h"
#include "tlm_utils/simple_initiator_socket.h"

namespace dvp::cpu {

struct work_cost {
  std::string name;   // of the kind, in figures and timeline
  double cycles = 0;  // per unit of amount; what is spent is rounded to whole cycles
};

struct native_cpu_config {
  std::uint64_t clock_hz = 0;                // 1 or more, at most 1 THz
  std::vector<work_cost> work;               // indexed by the firmware's work kind
  std::uint32_t register_access_cycles = 0;  // of the core, apart from the bus
  memory_stream_config stream;
  sc_core::sc_time quantum;            // most local time; zero: spent time passes at once
  std::size_t stack_bytes = 8U << 20;  // host stack of the firmware
};

class native_cpu : public sc_core::sc_module {
 public:
  // A clock out of range, a work kind without a name, or a stream without bursts is a fatal report with the module's
  // name. Figures and timeline outlive the module.
  native_cpu(const sc_core::sc_module_name& name, const native_cpu_config& config, std::function<void()> firmware,
             core::statistics& figures, core::timeline& timeline);

  tlm_utils::simple_initiator_socket<native_cpu> socket;
  sc_core::sc_in<bool> interrupt;

  const sc_core::sc_event& finished() const { return finished_; }
  bool done() const { return done_; }
  // True while the firmware sleeps in wait_for_interrupt or wait_until.
  bool waiting() const { return waiting_; }
  // True when it is this module's thread that asks.
  bool is_running() const { return thread_ == sc_core::sc_get_current_process_handle(); }
  // Message of the exception that ended the firmware; empty when there was none.
  const std::string& error() const { return error_; }

  // Services.
  std::uint32_t read32(std::uint64_t address);
  void write32(std::uint64_t address, std::uint32_t value);
  bool last_access_failed() const { return last_access_failed_; }
  // Host pointer to [address, address + bytes), bytes 1 or more, or null when the bus grants none for all of it.
  void* memory(std::uint64_t address, std::uint64_t bytes);
  // True when the line is high, at once if it already is. The variant returns false when the line stayed low for the
  // timeout, and does not sleep if the timeout is zero.
  bool wait_for_interrupt();
  bool wait_for_interrupt(const sc_core::sc_time& timeout);
  // A kind outside the cost table ends the firmware with std::out_of_range.
  void spend(std::uint32_t kind, std::uint64_t amount);
  // The same while bytes of main memory go by. Nothing passes, and last_access_failed() says so, when they are not all
  // memory(); it also tells of a burst that the bus refused.
  void spend(std::uint32_t kind, std::uint64_t amount, const streamed_bytes& bytes);
  // One access to what another hart has written.
  void look_elsewhere();
  // Sleeps until `over`, which is asked now and after every notification of `event`.
  void wait_until(const sc_core::sc_event& event, const std::function<bool()>& over);
  std::uint64_t now_ns() const;
  // Lets simulated time catch up with the local one.
  void synchronise();

 private:
  struct granted_region {
    std::uint64_t first;
    std::uint64_t last;
    std::uint8_t* data;
    bool holds(std::uint64_t address, std::uint64_t bytes) const {
      return address >= first && address <= last && bytes - 1 <= last - address;
    }
  };

  void run();
  void end_of_simulation() override { slices_.flush(); }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) {
    return stream_.nb_transport_bw(payload, phase, delay);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 start, sc_dt::uint64 end);
  sc_core::sc_time local_now() const { return sc_core::sc_time_stamp() + local_; }
  std::string path(const std::string& figure) const;
  std::uint64_t cycles_of(std::uint32_t kind, std::uint64_t amount) const;
  sc_core::sc_time time_of(std::uint64_t cycles) const {
    return sc_core::sc_time::from_value(period_.value() * cycles);
  }
  void advance(std::uint64_t cycles);
  void transfer(tlm::tlm_command command, std::uint64_t address, std::uint32_t& value);
  void end_wait(const sc_core::sc_time& begin, bool timed_out);
  // Until the line is high. One alarm serves all: the kernel keeps what is taken back until its time, and timeouts of
  // seconds would pile up.
  void sleep_until(const sc_core::sc_time& deadline);

  native_cpu_config config_;
  std::function<void()> firmware_;
  sc_core::sc_time period_;
  sc_core::sc_time local_;
  sc_core::sc_event finished_;
  sc_core::sc_process_handle thread_;
  memory_stream stream_;
  std::vector<granted_region> regions_;
  std::string error_;
  bool done_ = false;
  bool waiting_ = false;
  sc_core::sc_event alarm_;
  sc_core::sc_time alarm_at_;  // when it rings, if that lies ahead
  bool last_access_failed_ = false;

  core::merged_slices slices_;
  std::uint64_t& register_reads_;
  std::uint64_t& register_writes_;
  std::uint64_t& bus_errors_;
  std::uint64_t& cycles_;
  std::uint64_t& busy_ps_;
  std::uint64_t& wait_ps_;
  std::uint64_t& waits_;
  std::uint64_t& wait_timeouts_;
  std::uint64_t& stream_bytes_read_;
  std::uint64_t& stream_bytes_written_;
  std::uint64_t& stream_ps_;
  std::uint64_t& exposed_ps_;
  std::vector<std::uint64_t*> work_;
};

}  // namespace dvp::cpu
