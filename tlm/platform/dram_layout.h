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
  std::uint64_t plan = 0;       // swap_plan_entry records; 0: there is no room for any
  std::uint32_t plan_entries = 0;
  std::uint64_t compression = 0;  // compression_record; 0: there is none
  std::uint64_t statistics = 0;   // behind it: layer_statistics of every layer
};

inline constexpr std::uint32_t most_plan_entries = 8192;

// Areas follow one another from the start of DRAM, each on a 4 KiB border; the work area takes what is left up to
// 1 GiB. plan_entries: room for so many entries of a swap plan. compressed: room for the records of compression.
// usage_error when DRAM is too small for the model, naming both sizes.
dram_layout place_in_dram(const gen::image_header& model, std::uint64_t image_bytes, std::uint64_t dram_bytes,
                          std::uint32_t plan_entries = 0, bool compressed = false);

}  // namespace dvp::platform
