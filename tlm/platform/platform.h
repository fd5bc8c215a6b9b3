// The reference platform, wired from the address map.
//
//       firmware
//          |
//      cpu_seat ──> bus ──┬──> boot ROM, SRAM ("firmware"), CLINT, finisher
//       ^  ^  ^           ├──> mailbox ── irq ──┐
//       |  |  └── CLINT   ├──> UART ───── irq ──┼──> PLIC
//       |  └───── PLIC    ├──> NPU registers ───┘
//       |                 ├──> converter registers ──> views
//       |                 └──> memory seat <────────────┘
//       |                        ^
//       |     NPU DMA ──> bus ───┘
//
// With faults in the configuration, an injector sits between NPU and bus, and a gate in the NPU's interrupt line.
//
// Both CPU seats see the same devices and the same interrupts. One platform per process: the SystemC kernel elaborates
// once.
#pragma once

#include <deque>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <systemc>
#include <vector>

#include "dvp_gen/finisher_regs.h"
#include "tlm/array/array_seat.h"
#include "tlm/boot_rom/boot_rom.h"
#include "tlm/clint/clint.h"
#include "tlm/converter/converter.h"
#include "tlm/core/bus.h"
#include "tlm/core/memory_seat.h"
#include "tlm/core/statistics.h"
#include "tlm/core/timeline.h"
#include "tlm/faults/fault_injector.h"
#include "tlm/faults/interrupt_gate.h"
#include "tlm/finisher/finisher.h"
#include "tlm/mailbox/mailbox.h"
#include "tlm/memory/simple_memory.h"
#include "tlm/npu/npu.h"
#include "tlm/platform/config.h"
#include "tlm/platform/cpu_seat.h"
#include "tlm/plic/plic.h"
#include "tlm/uart/uart.h"

namespace dvp::platform {

class rv64_seat;

// What the program on the CPU wrote to the finisher.
struct finish {
  gen::finisher::outcome outcome = gen::finisher::outcome::pass;
  std::uint32_t code = 0;
  nlohmann::ordered_json figures;  // then: a hart may still execute a little until it meets the end
};

class platform : public sc_core::sc_module {
 public:
  // array, console, figures and timeline outlive the platform. entry: where the harts of the RV64 seat go.
  platform(const sc_core::sc_module_name& name, const platform_config& config, array::array_seat& array,
           uart::console& console, std::uint64_t entry, core::statistics& figures, core::timeline& timeline);
  ~platform() override;

  // The seat that the configuration names; `rv64` is the same, or null for the other one.
  const std::unique_ptr<cpu_seat> cpu;
  rv64_seat* const rv64;
  // The model that the configuration names.
  const std::unique_ptr<core::memory_seat> memory;
  memory::simple_memory sram;
  core::bus bus;
  boot_rom::boot_rom boot_rom;
  clint::clint clint;
  plic::plic plic;
  uart::uart uart;
  finisher::finisher finisher;
  mailbox::mailbox mailbox;
  npu::npu npu;
  converter::converter converter;
  // Null without faults in the configuration.
  const std::unique_ptr<faults::fault_injector> faults;

  // The register banks of all devices.
  std::vector<core::register_bank*> banks();
  // Set when the program ended the simulation through the finisher.
  const std::optional<finish>& finished() const { return finished_; }

 private:
  void connect_bus();
  void connect_interrupts();

  std::optional<finish> finished_;
  std::deque<hart_lines> lines_;  // by hart
  std::unique_ptr<faults::interrupt_gate> gate_;
  sc_core::sc_signal<bool> npu_line_;
  sc_core::sc_signal<bool> npu_line_behind_gate_;
  sc_core::sc_signal<bool> mailbox_line_;
  sc_core::sc_signal<bool> uart_line_;
};

}  // namespace dvp::platform
