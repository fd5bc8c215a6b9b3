// The run state: where everything that changes during a run lives.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dvp_gen/descriptor.h"
#include "firmware/kernels/anchored_ffn.h"
#include "firmware/kernels/command_stream.h"
#include "firmware/kernels/cpu_workspace.h"
#include "firmware/kernels/kv_store.h"
#include "firmware/kernels/model.h"
#include "firmware/kernels/residency.h"
#include "firmware/kernels/scratchpad_plan.h"

namespace dvp::kernels {

// Keys bf16 [layers][kv_heads][capacity][head_length] and, behind the keys of each layer, values bf16, feature-major
// [kv_heads][head_length][capacity]. All addresses are bus addresses.
struct kv_cache {
  std::uint64_t address = 0;
  std::uint32_t capacity = 0;  // positions
  std::uint32_t origin = 0;    // the first of them; beside a compressed cache the first row in work, else 0

  static constexpr std::uint64_t element_bytes = 2;
  // What memory moves for the CPU at least.
  static constexpr std::uint64_t line_bytes = 64;
  static constexpr std::uint32_t line_positions = line_bytes / element_bytes;

  // First position of the line that holds a position's values.
  static std::uint32_t line_start(std::uint32_t position) { return position / line_positions * line_positions; }
  // Bytes of the lines that hold the values of positions [first, first + rows) of a layer.
  std::uint64_t touched_values(const config& model, std::uint32_t first, std::uint32_t rows) const {
    const std::uint32_t end = std::min(line_start(first + rows + line_positions - 1), capacity);
    return element_bytes * (end - line_start(first)) * model.kv_width();
  }

  std::uint64_t half_layer(const config& model) const { return element_bytes * model.kv_width() * capacity; }
  std::uint64_t bytes(const config& model) const { return 2 * half_layer(model) * model.layers; }
  std::uint64_t keys(const config& model, std::uint32_t layer, std::uint32_t kv_head, std::uint32_t position) const {
    return address + 2 * half_layer(model) * layer +
           element_bytes * model.head_length * (std::uint64_t{kv_head} * capacity + (position - origin));
  }
  // feature: kv_head * head_length + element
  std::uint64_t values(const config& model, std::uint32_t layer, std::uint32_t feature, std::uint32_t position) const {
    return address + half_layer(model) * (2 * std::uint64_t{layer} + 1) +
           element_bytes * (std::uint64_t{feature} * capacity + (position - origin));
  }
};

// A ring of regions that are used in turn: the next operation's while the last one's is still read.
template <std::size_t count>
class turns {
 public:
  const region& next(const std::array<region, count>& regions) { return regions[turn_++ % count]; }

 private:
  std::uint32_t turn_ = 0;
};

struct run_state {
  command_stream stream;
  drivers::npu_limits limits;
  scratchpad_plan plan;
  kv_cache cache;
  std::uint64_t tokens = 0;        // u32 [positions]: the sequence; the CPU writes it
  std::uint64_t residual = 0;      // fp32 [rows of a forward][width]: between layers, when they are more than a tile
  std::uint64_t results = 0;       // sample_record [rows with logits of a forward]
  std::uint64_t identity = 0;      // bf16 [group][group] identity; with a bf16 embedding only
  cpu_workspace engine;            // of cpu_forward
  residency* reachable = nullptr;  // null: the NPU sees all of main memory
  compressed_cache* compressed = nullptr;  // null: `cache` holds the prefix, else only the rows in work
  anchored_ffn* anchors = nullptr;         // null: every pass is ffn_pass::whole
  turns<2> staging;
  turns<4> result;
  turns<2> cached;

  // The CPU changed memory that the next forward reads.
  void cpu_wrote(std::uint64_t bus, std::uint64_t bytes) const {
    if (reachable != nullptr) {
      reachable->written(bus, bytes);
    }
  }
  // Announces an operator or its next channels; how many of `channels` from use.first on are there.
  std::uint32_t enter(const operator_use& use, std::uint32_t channels) {
    return reachable == nullptr ? channels : std::min(channels, reachable->enter(use));
  }
};

}  // namespace dvp::kernels
