#include "tlm/platform/dram_layout.h"

#include <algorithm>
#include <string>

#include "dvp_gen/compression.h"
#include "dvp_gen/request.h"
#include "dvp_gen/system.h"
#include "tlm/platform/decode_config.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

namespace {
constexpr std::uint64_t page = 4096;
constexpr std::uint64_t most_work_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t least_work_bytes = std::uint64_t{1} << 22;
std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + page - 1) / page * page;
}
}  // namespace

dram_layout place_in_dram(const gen::image_header& model, std::uint64_t image_bytes, std::uint64_t dram_bytes,
                          std::uint32_t plan_entries, bool compressed) {
  dram_layout layout;
  std::uint64_t next = gen::system::dram_base;
  const auto take = [&next](std::uint64_t bytes) {
    const std::uint64_t address = next;
    next += round_up(bytes);
    return address;
  };
  layout.request = take(sizeof(gen::request_record) + most_latency_entries * sizeof(gen::latency_entry));
  layout.latencies = layout.request + sizeof(gen::request_record);
  layout.result = take(sizeof(gen::result_record));
  layout.progress = take(sizeof(gen::progress_record));
  layout.tokens_capacity = model.context;
  layout.tokens = take(std::uint64_t{model.context} * sizeof(std::uint32_t));
  layout.image_bytes = image_bytes;
  layout.image = take(image_bytes);
  // Keys and values, bf16, for every position of the context.
  layout.kv_bytes =
      std::uint64_t{2} * sizeof(std::uint16_t) * model.layers * model.kv_heads * model.head_length * model.context;
  layout.kv = take(layout.kv_bytes);
  if (plan_entries != 0) {
    layout.plan = take(std::uint64_t{plan_entries} * sizeof(gen::swap_plan_entry));
    layout.plan_entries = plan_entries;
  }
  if (compressed) {
    layout.compression = take(sizeof(gen::compression_record) + model.layers * sizeof(gen::layer_statistics));
    layout.statistics = layout.compression + sizeof(gen::compression_record);
  }
  const std::uint64_t used = next - gen::system::dram_base;
  if (used + least_work_bytes > dram_bytes) {
    throw usage_error("the model needs " + std::to_string(used + least_work_bytes) + " bytes of DRAM and there are " +
                      std::to_string(dram_bytes) + "; use a smaller model, or fewer positions with --context");
  }
  layout.work = next;
  layout.work_bytes = std::min(most_work_bytes, dram_bytes - used);
  return layout;
}

}  // namespace dvp::platform
