// The CPU seat with the firmware compiled for the host.
#pragma once

#include "tlm/cpu/native_harts.h"
#include "tlm/platform/config.h"
#include "tlm/platform/cpu_seat.h"
#include "tlm/platform/native_machine.h"

namespace dvp::platform {

// Harts, modules "cpu", "cpu1" and so on; the first answers requests for as long as the simulation goes on. Their HAL
// is the process's: one native seat at a time.
class native_seat final : public cpu_seat {
 public:
  // has_data: as in native_machine.
  native_seat(const native_choice& config, bool has_data, core::statistics& figures, core::timeline& timeline);

  std::uint32_t harts() const override { return harts_.size(); }
  void connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) override;
  void update_figures() override {}
  void set_decisions(npu::decision_port* port) override { machine_.set_decisions(port); }
  std::string fault() const override { return harts_.fault(); }

 private:
  cpu::native_harts harts_;
  native_machine machine_;
};

}  // namespace dvp::platform
