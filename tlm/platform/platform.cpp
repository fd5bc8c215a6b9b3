#include "tlm/platform/platform.h"

#include <algorithm>

#include "dvp_gen/system.h"
#include "tlm/lpddr5/controller.h"
#include "tlm/platform/native_seat.h"
#include "tlm/platform/rv64_seat.h"

namespace dvp::platform {

namespace map = gen::system;

namespace {

std::unique_ptr<cpu_seat> make_cpu(const platform_config& config, core::statistics& figures, core::timeline& timeline) {
  if (config.seat == cpu_choice::rv64) return std::make_unique<rv64_seat>(config.rv64, figures, timeline);
  return std::make_unique<native_seat>(config.native, !config.npu.shape_only, figures, timeline);
}

std::unique_ptr<core::memory_seat> make_memory(const memory_choice& choice, core::statistics& figures,
                                               core::timeline& timeline) {
  if (choice.lpddr5) return std::make_unique<lpddr5::controller>("memory", *choice.lpddr5, figures, timeline);
  return std::make_unique<memory::simple_memory>("memory", choice.fixed, figures, timeline);
}

// Next to the harts: what they fetch and touch there by pointer takes the time of their cost model, so this is only
// what an access on the bus takes.
memory::simple_memory_config sram_config() {
  memory::simple_memory_config config;
  config.bytes = map::firmware_bytes;
  config.latency = sc_core::sc_time(2, sc_core::SC_NS);
  config.bytes_per_second = 16'000'000'000;
  config.timeline_gap = sc_core::sc_time(100, sc_core::SC_NS);
  return config;
}

std::vector<core::address_window> windows(std::uint64_t memory_bytes) {
  return {{"boot_rom", map::boot_rom_base, map::boot_rom_bytes},
          {"finisher", map::finisher_base, map::finisher_bytes},
          {"clint", map::clint_base, map::clint_bytes},
          {"plic", map::plic_base, map::plic_bytes},
          {"mailbox", map::mailbox_base, map::mailbox_bytes},
          {"uart", map::uart_base, map::uart_bytes},
          {"npu", map::npu_base, map::npu_bytes},
          {"converter", map::converter_base, map::converter_bytes},
          {"firmware", map::firmware_base, map::firmware_bytes},
          {"dram", map::dram_base, std::min(map::dram_bytes, memory_bytes)}};
}

}  // namespace

// The bus has a port for every hart, then one for the NPU.
platform::platform(const sc_core::sc_module_name& name, const platform_config& config, array::array_seat& array,
                   uart::console& console, std::uint64_t entry, core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      cpu(make_cpu(config, figures, timeline)),
      rv64(dynamic_cast<rv64_seat*>(cpu.get())),
      memory(make_memory(config.memory, figures, timeline)),
      sram("sram", sram_config(), figures, timeline),
      bus("bus", windows(memory->bytes()), cpu->harts() + 1, config.bus_latency),
      boot_rom("boot_rom", entry),
      clint("clint", cpu->harts()),
      plic("plic", cpu->harts()),
      uart("uart", {map::uart_clock_hz, config.uart_bits_per_second}, console, figures),
      finisher("finisher"),
      mailbox("mailbox"),
      npu("npu", config.npu, array, figures, timeline),
      converter("converter", memory->views(),
                [this](std::uint16_t number, const numerics::view& v) { return memory->set_view(number, v); }),
      faults(config.faults ? std::make_unique<faults::fault_injector>("faults", *config.faults, figures, timeline)
                           : nullptr),
      lines_(cpu->harts()) {
  connect_bus();
  connect_interrupts();
  finisher.on_finish([this, &figures](gen::finisher::outcome outcome, std::uint32_t code) {
    cpu->update_figures();
    if (!finished_) finished_ = {outcome, code, figures.tree()};
    sc_core::sc_stop();
  });
}

platform::~platform() = default;

void platform::connect_bus() {
  for (std::uint32_t hart = 0; hart < cpu->harts(); ++hart) {
    cpu->connect(hart, bus.from_initiator(hart), lines_[hart]);
  }
  if (faults != nullptr) {
    npu.memory.bind(faults->from_initiator);
    faults->to_target.bind(bus.from_initiator(cpu->harts()));
  } else {
    npu.memory.bind(bus.from_initiator(cpu->harts()));
  }
  bus.to_target("boot_rom").bind(boot_rom.socket);
  bus.to_target("finisher").bind(finisher.socket);
  bus.to_target("clint").bind(clint.socket);
  bus.to_target("plic").bind(plic.socket);
  bus.to_target("mailbox").bind(mailbox.socket);
  bus.to_target("uart").bind(uart.socket);
  bus.to_target("npu").bind(npu.registers);
  bus.to_target("converter").bind(converter.socket);
  bus.to_target("firmware").bind(sram.socket);
  memory->serve(bus.to_target("dram"));
}

void platform::connect_interrupts() {
  npu.interrupt.bind(npu_line_);
  mailbox.interrupt.bind(mailbox_line_);
  uart.interrupt.bind(uart_line_);
  if (faults != nullptr) {
    gate_ = std::make_unique<faults::interrupt_gate>("npu_interrupt_gate", *faults);
    gate_->from_block.bind(npu_line_);
    gate_->to_controller.bind(npu_line_behind_gate_);
  }
  plic.source(map::npu_interrupt).bind(faults != nullptr ? npu_line_behind_gate_ : npu_line_);
  plic.source(map::mailbox_interrupt).bind(mailbox_line_);
  plic.source(map::uart_interrupt).bind(uart_line_);
  for (std::uint32_t hart = 0; hart < cpu->harts(); ++hart) {
    plic.interrupt[hart].bind(lines_[hart].external);
    clint.timer[hart].bind(lines_[hart].timer);
    if (rv64 != nullptr) rv64->hart(hart).follow_time([this] { return clint.mtime(); });
    if (rv64 != nullptr && cpu->harts() == 1) {
      rv64->hart(hart).forecast_timer([this, hart] { return clint.next_rise(hart); });
    }
    clint.software[hart].bind(lines_[hart].software);
  }
}

std::vector<core::register_bank*> platform::banks() {
  return {&clint.bank(), &plic.bank(), &uart.bank(), &finisher.bank(), &mailbox.bank(), &npu.bank(), &converter.bank()};
}

}  // namespace dvp::platform
