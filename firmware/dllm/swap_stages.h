// Which part of which product is copied into which half, and when: the double buffer of a swap plan, as a pure state
// machine.
//
// The parts a forward reads come one after another, and each is copied as soon as a half is free: when the last
// descriptor that reads a part is issued, the part after the next one takes its place. At the end of a forward that is
// the beginning of the next one, taken to be alike. A part that is still in a half is not copied again. What is needed
// whole has one area: in forwards from an anchor the channels, in the others ffn_down. It is copied for the next layer
// when its layer is done with; a layer of which nothing is asked is passed over.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/dllm/swap_plan.h"
#include "firmware/kernels/residency.h"

namespace dvp::dllm {

// A part of a staged product, from output channel `first` on; or nothing.
struct staged_part {
  bool exists = false;
  std::uint32_t product = 0;
  std::uint32_t first = 0;

  bool nothing() const { return !exists; }
  friend bool operator==(const staged_part&, const staged_part&) = default;
};

constexpr staged_part part_from(std::uint32_t product, std::uint32_t first) {
  return {true, product, first};
}

// Where a copy goes.
enum class stage_area : std::uint8_t { low, high, whole };

// Walks over the parts that one forward reads through the halves, in order, again and again.
class part_cursor {
 public:
  void start(const swap_graph& graph, const swap_plan& plan, const kernels::forward_outline& outline);
  // The next part; one that is read again at once, by the next tile, counts once. Nothing when there is none.
  staged_part next();

 private:
  enum class phase : std::uint8_t { keys_values, rest, head };

  // The product at the cursor; no_product when the phase has none for it.
  std::uint32_t product() const;
  std::uint32_t tiles() const;
  void next_product();

  const swap_graph* graph_ = nullptr;
  const swap_plan* plan_ = nullptr;
  kernels::forward_outline outline_;
  phase phase_ = phase::keys_values;
  std::uint32_t layer_ = 0;
  std::uint32_t tile_ = 0;
  std::uint32_t which_ = 0;  // product within the phase
  std::uint32_t first_ = 0;  // channel
  std::uint32_t rounds_ = 0;
  staged_part last_;
};

class staging_sequence {
 public:
  // Makes the copies that are due: the part goes into the area, what the area held is not read again.
  class copier {
   public:
    virtual void copy(const staged_part& part, stage_area area) = 0;

   protected:
    ~copier() = default;
  };

  // Nothing is staged yet. All arguments outlive the sequence's use.
  void start(const swap_graph& graph, const swap_plan& plan, copier& copies);

  void begin(const kernels::forward_outline& outline);
  // Before the first descriptor that reads channels from `first` on of a product; with gate and up, of down as well.
  // Returns how many channels are there, residency::unlimited when the product is pinned, 0 when the forward does not
  // follow its outline.
  std::uint32_t enter(std::uint32_t product, std::uint32_t first);
  // Something else is read: the part entered last is done with.
  void leave();
  void end();

  // Which part an area holds; nothing at first.
  const staged_part& held(stage_area area) const { return held_[static_cast<std::uint32_t>(area)]; }

 private:
  struct expected {
    staged_part part;
    stage_area area = stage_area::low;
  };

  static constexpr std::uint32_t most_ahead = 4;

  void bring(const staged_part& part, stage_area area);
  void look_ahead();
  bool in_use(stage_area area) const;
  bool reach(const staged_part& part);
  std::uint32_t whole_of(std::uint32_t layer) const;
  std::uint32_t whole_from(std::uint32_t layer) const;
  void reach_whole(std::uint32_t layer);
  void leave_whole();
  void bring_whole(std::uint32_t layer);

  const swap_graph* graph_ = nullptr;
  const swap_plan* plan_ = nullptr;
  copier* copies_ = nullptr;
  part_cursor cursor_;
  std::array<staged_part, 3> held_;
  expected current_;                        // nothing: none is being read
  std::array<expected, most_ahead> ahead_;  // what is read next, in its place already
  std::uint32_t ahead_count_ = 0;
  staged_part waiting_;    // what is read after that, until a half is free
  bool anchored_ = false;  // the forward
  std::uint32_t whole_layer_ = 0;
  bool whole_in_use_ = false;
};

}  // namespace dvp::dllm
