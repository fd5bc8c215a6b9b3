// What the platform needs of a CPU, whichever one runs the firmware.
#pragma once

#include <cstdint>
#include <string>
#include <systemc>

#include "tlm/core/bus.h"
#include "tlm/npu/decisions.h"

namespace dvp::platform {

// Interrupt inputs of one hart; levels.
struct hart_lines {
  sc_core::sc_signal<bool> external;  // the interrupt controller's output for its machine mode
  sc_core::sc_signal<bool> timer;
  sc_core::sc_signal<bool> software;
};

class cpu_seat {
 public:
  virtual ~cpu_seat() = default;

  virtual std::uint32_t harts() const = 0;
  // Elaboration only: binds the hart's socket to its side of the bus, and those interrupt inputs that it has. Lines
  // outlive the seat.
  virtual void connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) = 0;
  // Brings the figures up to now, where a model does not keep them so.
  virtual void update_figures() = 0;
  // Who is told what CPU kernels predict, or makes it where there is no data; null: nobody. An image on harts computes
  // what it computes, and nobody is told. The port outlives the seat.
  virtual void set_decisions(npu::decision_port* port) = 0;
  // Why the CPU cannot go on, one sentence without a full stop; empty while it can. A seat that cannot go on stops the
  // simulation.
  virtual std::string fault() const = 0;
};

}  // namespace dvp::platform
