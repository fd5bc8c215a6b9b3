// Who sits where in simulated DRAM for one model: image, KV cache, work area, tokens, and the small records.
#pragma once

#include <cstdint>

#include "dvp_gen/image.h"

namespace dvp::platform {

struct dram_layout {
  std::uint64_t image = 0, image_bytes = 0;
  std::uint64_t kv = 0, kv_bytes = 0;
  std::uint64_t work = 0, work_bytes = 0;
  std::uint64_t tokens = 0;
  std::uint32_t tokens_capacity = 0;
  std::uint64_t request = 0, result = 0, progress = 0;
  std::uint64_t latencies = 0;  // behind the request: most_latency_entries records
};

// Areas follow one another from the start of DRAM, each on a 4 KiB border; the work area takes what is left up to
// 1 GiB. usage_error when DRAM is too small for the model, naming both sizes.
dram_layout place_in_dram(const gen::image_header& model, std::uint64_t image_bytes, std::uint64_t dram_bytes);

}  // namespace dvp::platform
