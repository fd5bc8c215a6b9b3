// The plan of swap policy somr: from the products of a forward to who sits where in the NPU's address window.
//
// Pinned for the whole run: what every operator needs, the cache (read most often), the embedding (any of its rows may
// be asked for), and as many weights as fit. The others stream: products are copied, whole or in parts of their output
// channels, into one of two halves in turn while the NPU computes with the other. What is needed whole, ffn_down by the
// parts of its layer, channels by gathers of any of their rows, has an area of its own, which the two share: no forward
// reads both. All of it sits without holes from device address 0 on.
//
// The plan with the fewest bytes to stage in the forwards of a run is taken, at a fixed price per part. A weight is
// used once per tile of rows, so that, but for how many forwards read it (swap_product.uses), none is worth more than
// another by the byte: those that fewer forwards read are staged first. Staged products are spread over the forward
// where map entries allow it, because their copying hides behind the work of the pinned ones in between.
//
// The rules "tensor lifetimes, compact addresses, hot buffers pinned, double buffer" are SOMR's (arXiv 2606.13740);
// parts of products, the area for what is needed whole and the choice by bytes are this implementation's.
#pragma once

#include <array>
#include <cstdint>

#include "dvp_gen/request.h"
#include "firmware/dllm/swap_graph.h"
#include "firmware/dllm/swap_pages.h"

namespace dvp::dllm {

struct product_place {
  bool staged = false;
  std::uint32_t part_channels = 0;  // staged: channels per part; the last may have fewer
};

struct swap_plan {
  bool fits = false;
  // Does not fit: what the window would have to hold in the smallest plan there is, and the product that decides how
  // large its halves are; scores, the cache, when none does. When that plan pins everything: the first product of a
  // forward that finds no room, none when what every plan pins finds none. No more than the window has when bytes are
  // not what is short.
  gen::window_shortage shortage = gen::window_shortage::none;
  gen::operator_label name = gen::operator_label::none;
  std::uint32_t layer = 0;
  std::uint64_t need = 0;

  std::array<product_place, most_products> places{};
  page_runs runs;                 // the pinned pages and the staging area
  std::uint64_t half_bytes = 0;   // whole pages; 0: no product is staged in halves
  std::uint64_t whole_bytes = 0;  // whole pages; 0: nothing is staged that is needed whole
  std::uint64_t staged_bytes =
      0;  // of all staged products, which is what a forward of one tile stages of those it reads
  std::uint64_t staging_bus = 0;  // low half; then the high half, then the area of what is needed whole

  std::uint64_t steps = 0;  // of the planner: products or pieces of memory looked at

  std::uint64_t half_device(std::uint32_t half) const { return runs.device(staging_bus) + half * half_bytes; }
  std::uint64_t whole_device() const { return half_device(2); }
};

// How many channels the part from `first` on has.
std::uint32_t part_length(const swap_product& product, const product_place& place, std::uint32_t first);

// Where the rows of a part lie in a half: every piece starts as far behind a 64-byte border as it does in main memory.
struct part_layout {
  std::array<byte_range, swap_product::most_rows> from{};
  std::array<std::uint64_t, swap_product::most_rows> offset{};
  std::uint64_t bytes = 0;
};
part_layout lay_out(const swap_product& product, std::uint32_t first, std::uint32_t channels);
// At least what the layout of any part of so many channels takes.
std::uint64_t part_bytes(const swap_product& product, std::uint32_t channels);

// Pages of main memory by bus address, and whose they are; the planner's own space.
struct plan_workspace {
  struct mark {
    std::uint64_t first = 0;
    std::uint64_t end = 0;
    std::uint32_t product = 0;  // no_product: pinned in every plan; staging_area: as large as the plan has it
  };
  static constexpr std::uint32_t most_marks = most_products * swap_product::most_rows + 10;
  static constexpr std::uint32_t staging_area = no_product + 1;

  std::array<mark, most_marks> marks{};
  std::uint32_t count = 0;
  // Bytes of a product; own_pages: of whole pages inside of its matrices. rank: how many numbers of uses are smaller.
  struct sizes {
    std::uint64_t whole = 0;
    std::uint64_t smallest_part = 0;
    std::uint64_t own_pages = 0;
    std::uint32_t rank = 0;
  };
  std::array<sizes, most_products> product{};
  std::array<product_place, most_products> trial{};
};

// Takes up to some milliseconds and feeds the watch-dog meanwhile; plan.steps tells how much work it was.
// `room`: main memory that is free for the halves and the area of what is needed whole. staging false: everything is to
// be pinned.
//
// Refused (fits is false) exactly when neither of these fits window, entries and room: everything pinned; and, for some
// size S of a half, every product pinned whose smallest part is larger than S, the downs all pinned or all staged,
// likewise the channels, every other product staged.
void make_plan(const swap_graph& graph, const window_limits& limits, const byte_range& room, bool staging,
               plan_workspace& space, swap_plan& plan);

}  // namespace dvp::dllm
