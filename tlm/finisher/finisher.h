// Test finisher: a register whose write ends the simulation (gen/spec/blocks/finisher.json).
//
// The handler runs inside the register write, at its simulated time, and decides what ends: the model stops nothing by
// itself. Values that are no outcome are ignored.
#pragma once

#include <cstdint>
#include <functional>
#include <systemc>

#include "dvp_gen/finisher_regs.h"
#include "tlm/core/register_target.h"

namespace dvp::finisher {

class finisher : public core::register_target {
 public:
  // code: of a failure, 0 to 65535; 0 for the other outcomes.
  using handler = std::function<void(gen::finisher::outcome outcome, std::uint32_t code)>;

  explicit finisher(const sc_core::sc_module_name& name);

  void on_finish(handler call) { finish_ = std::move(call); }

 private:
  handler finish_;
};

}  // namespace dvp::finisher
