// Loses interrupts: sits in the NPU's interrupt line and keeps a rise that suffers a fault to itself. The line behind
// it then stays low until the line before it has fallen and risen again. Otherwise it follows, one delta cycle later.
#pragma once

#include <systemc>

#include "tlm/faults/fault_injector.h"

namespace dvp::faults {

class interrupt_gate : public sc_core::sc_module {
 public:
  // The injector, which outlives the gate, decides and counts.
  interrupt_gate(const sc_core::sc_module_name& name, fault_injector& injector);

  sc_core::sc_in<bool> from_block;
  sc_core::sc_out<bool> to_controller;

 private:
  void follow();

  fault_injector& injector_;
};

}  // namespace dvp::faults
