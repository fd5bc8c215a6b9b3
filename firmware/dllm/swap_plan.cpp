#include "firmware/dllm/swap_plan.h"

#include <algorithm>
#include <limits>

#include "firmware/hal/hal.h"

namespace dvp::dllm {
namespace {

using gen::window_shortage;

constexpr std::uint64_t border = 64;
// What a part costs beside its bytes, in bytes: descriptors, and the engine's wait between one copy and the next.
constexpr std::uint64_t part_price = 8192;
constexpr std::uint32_t all = 1024;  // of a share
// Numbers of uses that are told apart: full-block forwards, those that denoise, and both.
constexpr std::uint32_t most_ranks = 3;

// How the staged products are chosen from those that may be.
enum class choice : std::uint8_t { spread, last };

class planner {
 public:
  planner(const swap_graph& graph, const window_limits& limits, const byte_range& room, plan_workspace& space,
          swap_plan& plan)
      : graph_(graph),
        limits_(limits),
        staging_bus_(page_ceil(room.bus, limits.page_bytes)),
        room_(room.end() > staging_bus_ ? room.end() - staging_bus_ : 0),
        space_(space),
        trial_(space.trial),
        plan_(plan) {}

  void run(bool staging);

 private:
  // The areas that staged products share.
  struct areas {
    std::uint64_t half_limit = 0;  // parts are cut to it
    std::uint64_t half = 0;        // whole pages
    std::uint64_t whole = 0;       // whole pages
  };

  void measure_products();
  void mark_memory();
  const plan_workspace::sizes& size(std::uint32_t product) const { return space_.product[product]; }
  // Parts for halves of at most half_limit; what cannot be cut that small is pinned. Everything else is staged.
  areas cut(std::uint64_t half_limit, bool stage_downs, bool stage_channels);
  bool may_be_staged(std::uint32_t product) const { return trial_[product].part_channels != 0; }
  void select(choice how, std::uint32_t level);
  void select_ranked(choice how, std::uint32_t rank, std::uint32_t share);
  void stage(std::uint32_t product, bool staged);
  std::uint32_t& staged_like(std::uint32_t product) { return graph_.products[product].is_whole() ? wholes_ : halves_; }
  std::uint64_t staging_bytes(const areas& a) const {
    return (halves_ != 0 ? 2 * a.half : 0) + (wholes_ != 0 ? a.whole : 0);
  }
  void try_halves(std::uint64_t largest, bool stage_downs, bool stage_channels);
  bool fits(const areas& a);
  void refuse(const areas& a);
  void refuse_everything();
  void improve(choice how, const areas& a);
  void keep(const areas& a);

  const swap_graph& graph_;
  const window_limits& limits_;
  std::uint64_t staging_bus_;
  std::uint64_t room_;
  plan_workspace& space_;
  std::array<product_place, most_products>& trial_;
  swap_plan& plan_;
  std::uint32_t halves_ = 0;  // staged products of the trial
  std::uint32_t wholes_ = 0;
  std::uint32_t ranks_ = 1;
  // Of the trial last laid out.
  std::uint64_t bytes_ = 0;
  window_shortage shortage_ = window_shortage::none;
  std::uint64_t best_price_ = std::numeric_limits<std::uint64_t>::max();
};

void planner::measure_products() {
  std::array<std::uint32_t, most_ranks> uses{};
  ranks_ = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    const auto end = uses.begin() + ranks_;
    if (ranks_ < most_ranks && std::find(uses.begin(), end, graph_.products[i].uses) == end) {
      uses[ranks_++] = graph_.products[i].uses;
    }
  }
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    const swap_product& p = graph_.products[i];
    plan_workspace::sizes& s = space_.product[i];
    s = {.whole = part_bytes(p, p.channels), .smallest_part = part_bytes(p, p.unit)};
    for (std::uint32_t r = 0; r < p.row_count; ++r) {
      const byte_range rows = p.rows[r].part(0, p.channels);
      const std::uint64_t first = page_ceil(rows.bus, limits_.page_bytes);
      const std::uint64_t end = page_floor(rows.end(), limits_.page_bytes);
      s.own_pages += end > first ? end - first : 0;
    }
    s.rank = static_cast<std::uint32_t>(
        std::count_if(uses.begin(), uses.begin() + ranks_, [&](std::uint32_t other) { return other < p.uses; }));
  }
}

void planner::mark_memory() {
  space_.count = 0;
  const auto add = [&](const byte_range& memory, std::uint32_t product) {
    plan_workspace::mark& m = space_.marks[space_.count++];
    m = {.product = product};
    m.first = page_floor(memory.bus, limits_.page_bytes);
    m.end = memory.bytes != 0 ? page_ceil(memory.end(), limits_.page_bytes) : m.first;
  };
  for (const byte_range& pinned : graph_.always()) {
    add(pinned, no_product);
  }
  add({staging_bus_, 0}, plan_workspace::staging_area);
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    const swap_product& p = graph_.products[i];
    for (std::uint32_t r = 0; r < p.row_count; ++r) {
      add(p.rows[r].part(0, p.channels), i);
    }
  }
  std::sort(space_.marks.begin(), space_.marks.begin() + space_.count,
            [](const plan_workspace::mark& a, const plan_workspace::mark& b) { return a.first < b.first; });
}

void planner::stage(std::uint32_t product, bool staged) {
  std::uint32_t& count = staged_like(product);
  count -= trial_[product].staged ? 1 : 0;
  count += staged ? 1 : 0;
  trial_[product].staged = staged;
}

planner::areas planner::cut(std::uint64_t half_limit, bool stage_downs, bool stage_channels) {
  areas a{.half_limit = half_limit};
  std::uint64_t half = 0;
  halves_ = wholes_ = 0;
  plan_.steps += graph_.count;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    const swap_product& p = graph_.products[i];
    product_place& place = trial_[i];
    place = {};
    if (p.is_whole()) {
      if (p.name == gen::operator_label::ffn_down ? stage_downs : stage_channels) {
        place.part_channels = p.channels;
        stage(i, true);
        a.whole = std::max(a.whole, page_ceil(size(i).whole, limits_.page_bytes));
      }
      continue;
    }
    if (size(i).smallest_part > half_limit) {
      continue;
    }
    // As few parts as the limit allows, nearly equal.
    std::uint32_t units = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(half_limit / size(i).smallest_part, (p.channels + p.unit - 1) / p.unit));
    const auto bytes = [&](std::uint32_t count) { return part_bytes(p, std::min(p.channels, count * p.unit)); };
    while (units * p.unit < p.channels && bytes(units + 1) <= half_limit) {
      ++units;
    }
    const std::uint32_t most = units * p.unit;
    const std::uint32_t parts = (p.channels + most - 1) / most;
    const std::uint32_t level = (p.channels + parts - 1) / parts;
    place.part_channels = std::min(p.channels, (level + p.unit - 1) / p.unit * p.unit);
    stage(i, true);
    half = std::max(half, part_bytes(p, place.part_channels));
  }
  a.half = page_ceil(half, limits_.page_bytes);
  return a;
}

// A level is a share of every rank: of rank 0 up to `all`, then all of it and a share of rank 1, and so on.
void planner::select(choice how, std::uint32_t level) {
  plan_.steps += graph_.count;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank, level -= std::min(level, all)) {
    select_ranked(how, rank, std::min(level, all));
  }
}

void planner::select_ranked(choice how, std::uint32_t rank, std::uint32_t share) {
  const auto counts = [&](std::uint32_t i) { return may_be_staged(i) && size(i).rank == rank; };
  std::uint64_t credit = 0;
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    total += counts(i) ? size(i).whole : 0;
  }
  std::uint64_t left = total;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    if (!counts(i)) {
      continue;
    }
    const std::uint64_t bytes = size(i).whole;
    if (how == choice::last) {
      stage(i, left <= total / all * share + total % all * share / all);
      left -= bytes;
      continue;
    }
    credit += bytes * share;
    stage(i, share == all || credit >= bytes * (all / 2));
    credit -= trial_[i].staged ? std::min(credit, bytes * all) : 0;
  }
}

// Counts the pages and runs of the trial, as page_runs would lay them out.
bool planner::fits(const areas& a) {
  const std::uint64_t staging = staging_bytes(a);
  std::uint32_t runs = 0;
  std::uint64_t covered = 0;
  bytes_ = 0;
  plan_.steps += space_.count;
  for (std::uint32_t m = 0; m < space_.count; ++m) {
    const plan_workspace::mark& mark = space_.marks[m];
    if (mark.product < no_product && trial_[mark.product].staged) {
      continue;
    }
    const std::uint64_t end = mark.product == plan_workspace::staging_area ? staging_bus_ + staging : mark.end;
    const std::uint64_t first = mark.product == plan_workspace::staging_area ? staging_bus_ : mark.first;
    const bool joins = runs != 0 && first <= covered;
    const std::uint64_t from = joins ? covered : first;
    if (end > from) {
      runs += joins ? 0 : 1;
      bytes_ += end - from;
      covered = end;
    }
  }
  shortage_ = bytes_ > limits_.bytes   ? window_shortage::operands
              : staging > room_        ? window_shortage::work_buffer
              : runs > page_runs::most ? window_shortage::runs
              : runs > limits_.entries ? window_shortage::entries
                                       : window_shortage::none;
  return shortage_ == window_shortage::none;
}

// How near a plan is that lacks this.
std::uint32_t nearness(window_shortage shortage) {
  switch (shortage) {
    case window_shortage::work_buffer:
      return 1;
    case window_shortage::runs:
      return 2;
    case window_shortage::entries:
      return 3;
    default:
      return 0;
  }
}

// The trial, with everything staged that may be, does not fit.
void planner::refuse(const areas& a) {
  const std::uint32_t before = nearness(plan_.shortage);
  if (nearness(shortage_) < before || (nearness(shortage_) == before && bytes_ >= plan_.need)) {
    return;
  }
  plan_.shortage = shortage_;
  plan_.need = bytes_;
  plan_.name = gen::operator_label::scores;
  plan_.layer = 0;
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    const swap_product& p = graph_.products[i];
    const std::uint64_t part = size(i).smallest_part;
    if (!p.is_whole() && may_be_staged(i) && part > largest && part <= a.half) {
      largest = part;
      plan_.name = p.name;
      plan_.layer = p.layer;
    }
  }
}

// The trial, everything pinned, does not fit: names the first product of a forward that finds no room.
void planner::refuse_everything() {
  plan_.need = bytes_;
  plan_.shortage = shortage_ == window_shortage::operands ? window_shortage::everything : shortage_;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    stage(i, true);
  }
  if (!fits({})) {
    return;
  }
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    hal::feed_watchdog();
    stage(i, false);
    if (!fits({})) {
      plan_.name = graph_.products[i].name;
      plan_.layer = graph_.products[i].layer;
      return;
    }
  }
}

// Stages as little as fits: first by share, then one product after another is pinned where it still fits.
void planner::improve(choice how, const areas& a) {
  std::uint32_t fits_at = ranks_ * all;
  for (std::uint32_t too_small = 0; fits_at - too_small > 1;) {
    const std::uint32_t middle = (fits_at + too_small) / 2;
    select(how, middle);
    (fits(a) ? fits_at : too_small) = middle;
  }
  hal::feed_watchdog();
  select(how, fits_at);
  if (!fits(a)) {
    return;
  }
  std::uint64_t bytes = bytes_;
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    largest = std::max(largest, size(i).whole);
  }
  // Those that more forwards read first, of these large ones first. A pinned product may close the gap between two
  // runs, so that there is an entry for another one.
  for (std::uint32_t rank = ranks_; rank-- > 0;) {
    std::uint64_t least = largest / 2;
    for (bool again = true; again;) {
      again = least != 0;
      plan_.steps += graph_.count;
      for (std::uint32_t i = 0; i < graph_.count; ++i) {
        // Pages that are a product's alone come on top, unless its area goes with it.
        const bool too_large = staged_like(i) > 1 && bytes + size(i).own_pages > limits_.bytes;
        if (trial_[i].staged && size(i).rank >= rank && size(i).whole >= least && !too_large) {
          stage(i, false);
          if (fits(a)) {
            bytes = bytes_;
            again = true;
          } else {
            stage(i, true);
          }
        }
      }
      least = 0;
      hal::feed_watchdog();
    }
  }
  keep(a);
}

// The trial fits.
void planner::keep(const areas& a) {
  std::uint64_t bytes = 0;
  std::uint64_t price = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    if (trial_[i].staged) {
      const swap_product& p = graph_.products[i];
      const std::uint64_t parts = (p.channels + trial_[i].part_channels - 1) / trial_[i].part_channels;
      bytes += size(i).whole;
      price += (size(i).whole + parts * part_price) * p.uses;
    }
  }
  if (price >= best_price_) {
    return;
  }
  best_price_ = price;
  plan_.fits = true;
  plan_.places = trial_;
  plan_.half_bytes = halves_ != 0 ? a.half : 0;
  plan_.whole_bytes = wholes_ != 0 ? a.whole : 0;
  plan_.staged_bytes = bytes;
  plan_.runs.start(limits_.page_bytes, 0);
  plan_.steps += space_.count;
  for (std::uint32_t m = 0; m < space_.count; ++m) {
    const plan_workspace::mark& mark = space_.marks[m];
    if (mark.product == plan_workspace::staging_area) {
      plan_.runs.add({staging_bus_, staging_bytes(a)});
    } else if (mark.product == no_product || !trial_[mark.product].staged) {
      plan_.runs.add({mark.first, mark.end - mark.first});
    }
  }
}

void planner::run(bool staging) {
  plan_ = {};
  plan_.staging_bus = staging_bus_;
  measure_products();
  mark_memory();
  std::fill(trial_.begin(), trial_.end(), product_place{});
  if (fits({})) {
    keep({});
    return;
  }
  refuse_everything();
  if (!staging) {
    return;
  }
  std::uint64_t largest = 0;
  for (std::uint32_t i = 0; i < graph_.count; ++i) {
    largest = std::max(largest, size(i).whole);
  }
  const bool anchored = graph_.channels(0) != no_product;
  for (const bool stage_channels : {false, true}) {
    for (const bool stage_downs : {false, true}) {
      if (anchored || !stage_channels) {
        try_halves(largest, stage_downs, stage_channels);
      }
    }
  }
}

// Halves from so many bytes down.
void planner::try_halves(std::uint64_t largest, bool stage_downs, bool stage_channels) {
  for (std::uint64_t limit = largest; limit != 0;) {
    const areas a = cut(limit, stage_downs, stage_channels);
    if (fits(a)) {
      improve(choice::spread, a);
      improve(choice::last, a);
    } else if (!plan_.fits) {
      refuse(a);
    }
    hal::feed_watchdog();
    // Next: half as large, but no smallest part is stepped over, since what it decides is who must be pinned.
    std::uint64_t next = limit / 2;
    bool smaller_parts = false;
    for (std::uint32_t i = 0; i < graph_.count; ++i) {
      const std::uint64_t part = size(i).smallest_part;
      if (!graph_.products[i].is_whole() && part < limit) {
        next = std::max(next, part);
        smaller_parts = true;
      }
    }
    limit = smaller_parts ? next : 0;
  }
}

}  // namespace

std::uint32_t part_length(const swap_product& product, const product_place& place, std::uint32_t first) {
  return std::min(place.part_channels, product.channels - first);
}

part_layout lay_out(const swap_product& product, std::uint32_t first, std::uint32_t channels) {
  part_layout layout;
  for (std::uint32_t r = 0; r < product.row_count; ++r) {
    layout.from[r] = product.rows[r].part(first, channels);
    layout.offset[r] = (layout.bytes + border - 1) / border * border + layout.from[r].bus % border;
    layout.bytes = layout.offset[r] + layout.from[r].bytes;
  }
  return layout;
}

std::uint64_t part_bytes(const swap_product& product, std::uint32_t channels) {
  std::uint64_t bytes = 0;
  for (std::uint32_t r = 0; r < product.row_count; ++r) {
    bytes += (product.rows[r].part(0, channels).bytes + 2 * border - 2) / border * border;
  }
  return bytes;
}

void make_plan(const swap_graph& graph, const window_limits& limits, const byte_range& room, bool staging,
               plan_workspace& space, swap_plan& plan) {
  planner(graph, limits, room, space, plan).run(staging);
}

}  // namespace dvp::dllm
