// Policies naive and lru: an operator's buffers are mapped when it comes.
//
// Buffers: the embedding, the head, and per layer the attention's weights, the feed-forward network's weights, the
// cache (a compressed one with it) and the channels of an anchored network. The attention of a layer (projections,
// scores, output) is one operator, the feed-forward network, from its weights or from its channels, the other. What
// every operator needs is mapped once, at device address 0 on.
//
// naive: when another operator comes, the NPU is drained, everything of the last one is unmapped, then the new one's
// buffers are mapped. lru: buffers stay until pages or an entry are needed; then the least recently used one goes, and
// another, until the new one has a hole of its size (first fit). The NPU is drained only when a victim may still be in
// use. When nothing is left but the new operator's own buffers, holes between them are the trouble: they are unmapped
// too and all mapped again one behind the other.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/dllm/swap_graph.h"
#include "firmware/dllm/swap_window.h"
#include "firmware/kernels/residency.h"

namespace dvp::dllm {

// Cannot be: what is short, for which operator, and how much of the window it takes with what is always mapped.
struct swap_refusal {
  gen::window_shortage shortage = gen::window_shortage::none;
  gen::operator_label name = gen::operator_label::none;
  std::uint32_t layer = 0;
  std::uint64_t need = 0;
};

// What the policy knows about the window; kept apart because it is large.
struct mapped_space {
  static constexpr std::uint32_t most_buffers = 4 * kernels::most_layers + 2;

  // A page run of a mapped buffer; slots are ordered by device address.
  struct slot {
    page_run run;
    std::uint32_t buffer = 0;
    std::uint32_t entry = 0;
  };

  page_runs always;  // what every operator needs
  page_runs runs;    // of the buffer in hand
  std::array<slot, page_runs::most> slots{};
  std::uint32_t slot_count = 0;
  std::array<bool, page_runs::most> entry_used{};
  std::array<std::uint32_t, most_buffers> last_index{};  // descriptors issued when a buffer was last left
  std::array<std::uint64_t, most_buffers> last_time{};   // of its last use, by count of operators
};

class mapped_residency final : public kernels::residency {
 public:
  // Arguments outlive the run. keep: lru, else naive. False, and nothing is mapped, when an operator's buffers do not
  // fit; `refusal` says which.
  [[nodiscard]] bool open(const swap_graph& graph, swap_window& window, mapped_space& space, bool keep,
                          swap_refusal& refusal);
  // Where the NPU finds what is always mapped.
  std::uint64_t device(std::uint64_t bus) const { return space_->always.device(bus); }
  // Maps what is always mapped; after open(), when the NPU runs.
  void restart() override;

  void begin(const kernels::forward_outline& outline) override;
  std::uint32_t enter(const kernels::operator_use& use) override;
  void end() override;
  void written(std::uint64_t bus, std::uint64_t bytes) override { window_->written({bus, bytes}); }

 private:
  static constexpr std::uint32_t most_ranges = 3 * swap_product::most_rows;

  // The ranges of a buffer by bus address; those with nothing between them but alignment are one.
  struct buffer_ranges {
    std::array<byte_range, most_ranges> range{};
    std::uint32_t count = 0;
  };
  struct buffer_set {
    std::array<std::uint32_t, 2> buffer{};
    std::uint32_t count = 0;

    bool has(std::uint32_t b) const { return (count > 0 && buffer[0] == b) || (count > 1 && buffer[1] == b); }
  };
  std::uint32_t operator_of(const kernels::operator_use& use) const;
  buffer_set buffers_of(std::uint32_t op) const;
  buffer_ranges ranges_of(std::uint32_t buffer) const;
  void check(std::uint32_t op, swap_refusal& refusal);
  void add_rows(std::uint32_t product, buffer_ranges& ranges) const;
  void flush_part(const page_run& run, const byte_range& memory);
  void leave();
  void map_operator(std::uint32_t op);
  bool mapped(std::uint32_t buffer) const;
  bool map_buffer(std::uint32_t buffer);
  // The lowest hole of so many bytes: which slot comes behind it; slot_count_ + 1 when there is none.
  std::uint32_t find_hole(std::uint64_t bytes, std::uint64_t& device) const;
  bool evict(const buffer_set& keep);
  void unmap(std::uint32_t buffer);
  void unmap_all();
  void record(std::uint32_t op, const kernels::operator_use& use);

  const swap_graph* graph_ = nullptr;
  swap_window* window_ = nullptr;
  mapped_space* space_ = nullptr;
  window_limits limits_;
  bool keep_ = false;
  bool inside_ = false;        // of an operator
  std::uint32_t current_ = 0;  // that one
  std::uint64_t time_ = 0;
  std::uint32_t operator_index_ = 0;
};

}  // namespace dvp::dllm
