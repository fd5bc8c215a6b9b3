#include "tlm/platform/rv64_seat.h"

#include "dvp_gen/system.h"

namespace dvp::platform {

using cpu::rv64::rv64_cluster;
using cpu::rv64::rv64_cpu;

rv64_seat::rv64_seat(const rv64_choice& config, core::statistics& figures, core::timeline& timeline) {
  std::vector<rv64_cpu*> all;
  sc_core::sc_spawn_options stopping;
  stopping.spawn_method();
  stopping.dont_initialize();
  for (std::uint32_t number = 0; number < config.harts; ++number) {
    cpu::rv64::rv64_cpu_config hart = config.hart;
    hart.hart = number;
    hart.reset_pc = gen::system::boot_rom_base;
    cpus_.push_back(std::make_unique<rv64_cpu>(("cpu" + std::to_string(number)).c_str(), hart, figures, timeline));
    stopping.set_sensitivity(&cpus_.back()->finished());
    all.push_back(cpus_.back().get());
  }
  sc_core::sc_spawn([] { sc_core::sc_stop(); }, "cpu_finished", &stopping);
  cluster_ = std::make_unique<rv64_cluster>("harts", all);
}

void rv64_seat::connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) {
  rv64_cpu& cpu = *cpus_.at(hart);
  cpu.socket.bind(bus);
  cpu.external.bind(lines.external);
  cpu.timer.bind(lines.timer);
  cpu.software.bind(lines.software);
}

void rv64_seat::update_figures() {
  for (const auto& cpu : cpus_) cpu->update_figures();
}

std::string rv64_seat::fault() const {
  for (const auto& cpu : cpus_) {
    if (!cpu->error().empty()) return cpu->error();
  }
  return {};
}

}  // namespace dvp::platform
