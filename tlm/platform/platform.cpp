#include "tlm/platform/platform.h"

#include "dvp_gen/system.h"

namespace dvp::platform {

namespace {

// Ports of the bus, one per initiator.
enum : std::size_t { cpu_port, npu_port, initiators };

std::vector<core::address_window> windows(const platform_config& config) {
  namespace map = gen::system;
  return {{"mailbox", map::mailbox_base, map::mailbox_bytes},
          {"npu", map::npu_base, map::npu_bytes},
          {"dram", map::dram_base, config.memory.bytes}};
}

}  // namespace

platform::platform(const sc_core::sc_module_name& name, const platform_config& config, array::array_seat& array,
                   std::function<void()> firmware, core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      bus("bus", windows(config), initiators, config.bus_latency),
      memory("memory", config.memory, figures, timeline),
      mailbox("mailbox"),
      npu("npu", config.npu, array, figures, timeline),
      cpu("cpu", config.cpu, std::move(firmware), figures, timeline),
      npu_interrupt_("npu_interrupt") {
  cpu.socket.bind(bus.from_initiator(cpu_port));
  npu.memory.bind(bus.from_initiator(npu_port));
  bus.to_target("mailbox").bind(mailbox.socket);
  bus.to_target("npu").bind(npu.registers);
  bus.to_target("dram").bind(memory.socket);
  npu.interrupt.bind(npu_interrupt_);
  cpu.interrupt.bind(npu_interrupt_);
}

}  // namespace dvp::platform
