// The CPU seat with harts that execute an RV64 image.
#pragma once

#include <memory>
#include <vector>

#include "tlm/cpu/rv64/rv64_cluster.h"
#include "tlm/cpu/rv64/rv64_cpu.h"
#include "tlm/platform/config.h"
#include "tlm/platform/cpu_seat.h"

namespace dvp::platform {

// Modules cpu0, cpu1, ... and the cluster that debuggers and observers attach to. A hart that cannot go on stops the
// simulation.
class rv64_seat final : public cpu_seat {
 public:
  rv64_seat(const rv64_choice& config, core::statistics& figures, core::timeline& timeline);

  std::uint32_t harts() const override { return static_cast<std::uint32_t>(cpus_.size()); }
  void connect(std::uint32_t hart, core::bus::initiator_side& bus, hart_lines& lines) override;
  void update_figures() override;
  void set_decisions(npu::decision_port*) override {}
  std::string fault() const override;

  cpu::rv64::rv64_cpu& hart(std::uint32_t number) { return *cpus_.at(number); }
  cpu::rv64::rv64_cluster& cluster() { return *cluster_; }

 private:
  std::vector<std::unique_ptr<cpu::rv64::rv64_cpu>> cpus_;
  std::unique_ptr<cpu::rv64::rv64_cluster> cluster_;
};

}  // namespace dvp::platform
