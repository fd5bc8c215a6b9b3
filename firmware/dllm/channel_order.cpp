#include "firmware/dllm/channel_order.h"

#include <numeric>

#include "firmware/dllm/ranking.h"

namespace dvp::dllm {

void order_channels(std::span<const float> activity, std::span<const float> importance, std::span<std::uint16_t> keys,
                    std::span<std::uint32_t> spare, std::span<std::uint32_t> order) {
  for (std::size_t j = 0; j < order.size(); ++j) {
    keys[j] = falling_key(activity[j] * importance[j]);
  }
  std::iota(order.begin(), order.end(), 0u);
  sort_by_key(keys, order, spare);
}

}  // namespace dvp::dllm
