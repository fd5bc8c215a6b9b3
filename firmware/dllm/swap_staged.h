// Policies somr and none: what the plan pins is mapped once, compact from device address 0 on; the rest is staged.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/dllm/swap_plan.h"
#include "firmware/dllm/swap_stages.h"
#include "firmware/dllm/swap_window.h"
#include "firmware/kernels/residency.h"

namespace dvp::dllm {

class staged_residency final : public kernels::residency, private staging_sequence::copier {
 public:
  // The plan fits. Arguments outlive the run. The NPU runs when restart() is called, which maps everything.
  void open(const swap_graph& graph, const swap_plan& plan, swap_window& window);

  void restart() override;
  void begin(const kernels::forward_outline& outline) override;
  std::uint32_t enter(const kernels::operator_use& use) override;
  void end() override;
  void written(std::uint64_t bus, std::uint64_t bytes) override { window_->written({bus, bytes}); }

 private:
  void copy(const staged_part& part, stage_area area) override;
  std::uint64_t area_device(stage_area area) const;
  std::uint32_t product_of(const kernels::operator_use& use) const;
  void record_use(const kernels::operator_use& use);
  void record_part(const staged_part& part, stage_area area);

  const swap_graph* graph_ = nullptr;
  const swap_plan* plan_ = nullptr;
  swap_window* window_ = nullptr;
  staging_sequence sequence_;
  kernels::operator_use last_use_;    // for the record
  std::uint32_t operator_index_ = 0;  // of the forward, for the record
};

}  // namespace dvp::dllm
