// The reference platform, wired from the address map: CPU seat, bus, NPU, memory seat, mailbox.
//
//        firmware
//           |
//      native_cpu ──> bus ──> mailbox
//                      |└───> NPU registers ── irq ──> native_cpu
//        NPU DMA ───> bus ──> memory
//
// One platform per process: the SystemC kernel elaborates once.
#pragma once

#include <functional>
#include <memory>
#include <systemc>

#include "tlm/array/array_seat.h"
#include "tlm/core/bus.h"
#include "tlm/core/memory_seat.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/cpu/native_cpu.h"
#include "tlm/mailbox/mailbox.h"
#include "tlm/npu/npu.h"
#include "tlm/platform/config.h"

namespace dvp::platform {

class platform : public sc_core::sc_module {
 public:
  // array, figures and timeline outlive the platform; firmware runs on the CPU seat.
  platform(const sc_core::sc_module_name& name, const platform_config& config, array::array_seat& array,
           std::function<void()> firmware, core::statistics& figures, core::timeline& timeline);

  // The model that the configuration names.
  const std::unique_ptr<core::memory_seat> memory;
  core::bus bus;
  mailbox::mailbox mailbox;
  npu::npu npu;
  cpu::native_cpu cpu;

 private:
  sc_core::sc_signal<bool> npu_interrupt_;
};

}  // namespace dvp::platform
