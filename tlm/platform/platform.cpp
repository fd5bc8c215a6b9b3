#include "tlm/platform/platform.h"

#include <algorithm>

#include "dvp_gen/system.h"
#include "tlm/lpddr5/controller.h"
#include "tlm/memory/simple_memory.h"

namespace dvp::platform {

namespace {

// Ports of the bus, one per initiator.
enum : std::size_t { cpu_port, npu_port, initiators };

std::unique_ptr<core::memory_seat> make_memory(const memory_choice& choice, core::statistics& figures,
                                               core::timeline& timeline) {
  if (choice.lpddr5) return std::make_unique<lpddr5::controller>("memory", *choice.lpddr5, figures, timeline);
  return std::make_unique<memory::simple_memory>("memory", choice.fixed, figures, timeline);
}

std::vector<core::address_window> windows(std::uint64_t memory_bytes) {
  namespace map = gen::system;
  return {{"mailbox", map::mailbox_base, map::mailbox_bytes},
          {"npu", map::npu_base, map::npu_bytes},
          {"dram", map::dram_base, std::min(map::dram_bytes, memory_bytes)}};
}

}  // namespace

platform::platform(const sc_core::sc_module_name& name, const platform_config& config, array::array_seat& array,
                   std::function<void()> firmware, core::statistics& figures, core::timeline& timeline)
    : sc_module(name),
      memory(make_memory(config.memory, figures, timeline)),
      bus("bus", windows(memory->bytes()), initiators, config.bus_latency),
      mailbox("mailbox"),
      npu("npu", config.npu, array, figures, timeline),
      cpu("cpu", config.cpu, std::move(firmware), figures, timeline),
      npu_interrupt_("npu_interrupt") {
  cpu.socket.bind(bus.from_initiator(cpu_port));
  npu.memory.bind(bus.from_initiator(npu_port));
  bus.to_target("mailbox").bind(mailbox.socket);
  bus.to_target("npu").bind(npu.registers);
  memory->serve(bus.to_target("dram"));
  npu.interrupt.bind(npu_interrupt_);
  cpu.interrupt.bind(npu_interrupt_);
}

}  // namespace dvp::platform
