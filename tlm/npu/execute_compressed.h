// What rebuild and update descriptors do to the scratchpad: numerics/compressed_rows.h, row after row.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "dvp_gen/descriptor.h"

namespace dvp::npu {

// Keeps its buffers from descriptor to descriptor. Descriptors passed check(); rows run in ascending order.
class compressed_executor {
 public:
  void run(const gen::rebuild_descriptor& d, std::span<std::byte> scratchpad);
  void run(const gen::update_descriptor& d, std::span<std::byte> scratchpad);

 private:
  std::vector<float> codes_;
  std::vector<float> numbers_;
};

}  // namespace dvp::npu
