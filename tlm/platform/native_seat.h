// The CPU seat with the firmware compiled for the host.
#pragma once

#include "tlm/cpu/native_cpu.h"
#include "tlm/platform/cpu_seat.h"
#include "tlm/platform/native_machine.h"

namespace dvp::platform {

// One hart, module "cpu", which answers requests for as long as the simulation goes on. Its HAL is the process's: one
// native seat at a time.
class native_seat final : public cpu_seat {
 public:
  native_seat(const cpu::native_cpu_config& config, core::statistics& figures, core::timeline& timeline);

  std::uint32_t harts() const override { return 1; }
  void connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) override;
  void update_figures() override {}
  std::string fault() const override;

 private:
  cpu::native_cpu cpu_;
  native_machine machine_;
};

}  // namespace dvp::platform
