#include "tlm/faults/interrupt_gate.h"

namespace dvp::faults {

interrupt_gate::interrupt_gate(const sc_core::sc_module_name& name, fault_injector& injector)
    : sc_module(name), from_block("from_block"), to_controller("to_controller"), injector_(injector) {
  SC_HAS_PROCESS(interrupt_gate);
  SC_METHOD(follow);
  sensitive << from_block;
}

void interrupt_gate::follow() {
  const bool high = from_block.read();
  to_controller.write(high && !injector_.happens(event_class::interrupt, 0, 0));
}

}  // namespace dvp::faults
