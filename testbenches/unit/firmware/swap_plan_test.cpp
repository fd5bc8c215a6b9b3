// The swap planner and the order of its copies over random networks and windows: what a plan promises is recomputed
// here page by page, and whether one exists at all.
#include "firmware/dllm/swap_plan.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include "firmware/dllm/swap_stages.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/scripted_machine.h"

namespace dvp::dllm {
namespace {

using gen::operator_label;
using random_engine = std::mt19937;

constexpr std::uint64_t memory_base = 0x8000'0000;

std::uint32_t pick(random_engine& random, std::uint32_t least, std::uint32_t most) {
  return std::uniform_int_distribution<std::uint32_t>(least, most)(random);
}

// A network of random shapes somewhere in memory, tensors in a random number of gaps.
struct scene {
  swap_graph graph;
  window_limits limits;
  byte_range room;
};

class scene_maker {
 public:
  explicit scene_maker(random_engine& random) : random_(random) {}

  std::unique_ptr<scene> make() {
    auto s = std::make_unique<scene>();
    s->limits.page_bytes = 1u << pick(random_, 6, 12);
    swap_graph& g = s->graph;
    g.layers = pick(random_, 1, 5);
    g.tokens = take(pick(random_, 4, 400));
    g.embedding[0] = take(pick(random_, 64, 3000));
    if (pick(random_, 0, 1) == 0) {
      g.embedding[1] = take(pick(random_, 64, 300));
    }
    const bool coded = pick(random_, 0, 1) == 0;
    const bool second_head = pick(random_, 0, 2) != 0;
    const std::uint32_t scale = pick(random_, 1, 8);
    const auto product = [&](operator_label name, std::uint32_t layer, std::uint32_t matrices, std::uint32_t channels,
                             std::uint32_t unit) {
      swap_product p;
      p.name = name;
      p.layer = layer;
      p.channels = channels;
      p.unit = std::min(unit, channels);
      for (std::uint32_t m = 0; m < matrices; ++m) {
        p.rows[p.row_count++] = rows(channels, pick(random_, 8, 40 * scale));
        if (coded) {
          p.rows[p.row_count++] = rows(channels, pick(random_, 2, 4 * scale));
        }
      }
      g.products[g.count++] = p;
    };
    for (std::uint32_t layer = 0; layer < g.layers; ++layer) {
      product(operator_label::key_projection, layer, 2, pick(random_, 1, 6) * 8, 8);
      product(operator_label::query_projection, layer, 1, pick(random_, 1, 6) * 8, 8);
      product(operator_label::attn_output, layer, 1, pick(random_, 1, 100), 32);
      product(operator_label::ffn_gate, layer, 2, pick(random_, 1, 8) * 32, 32);
      const std::uint32_t width = pick(random_, 1, 64);
      product(operator_label::ffn_down, layer, 1, width, width);
    }
    if (second_head) {
      product(operator_label::head, 0, 1, pick(random_, 1, 300), 32);
    }
    if (pick(random_, 0, 1) == 0) {
      add_channels(g, scale);
    }
    g.rope = take(pick(random_, 64, 2000));
    g.cache = take(pick(random_, 64, 4000));
    g.system = take(pick(random_, 64, 4000));
    if (pick(random_, 0, 1) == 0) {
      g.store = take(pick(random_, 64, 3000));
      g.ffn_state = take(pick(random_, 64, 500));
    }
    s->room = take(next_ * 4);
    return s;
  }

 private:
  // Channels of every layer with factors that belong to all of them; numbers of uses as of blocks of some sub-blocks.
  void add_channels(swap_graph& g, std::uint32_t scale) {
    const std::uint32_t sub_blocks = pick(random_, 1, 8);
    for (std::uint32_t i = 0; i < g.count; ++i) {
      const operator_label name = g.products[i].name;
      const bool full_block = name == operator_label::ffn_gate || name == operator_label::ffn_down;
      g.products[i].uses = full_block ? 1 : sub_blocks + 1;
    }
    for (std::uint32_t layer = 0; layer < g.layers; ++layer) {
      const std::uint32_t channels = pick(random_, 1, 8) * 32;
      swap_product p;
      p.name = operator_label::ffn_update;
      p.layer = layer;
      p.channels = p.unit = channels;
      p.uses = sub_blocks;
      p.rows[p.row_count++] = rows(channels, pick(random_, 24, 60 * scale));
      p.rows[p.row_count++] = rows(channels, pick(random_, 2, 9));
      if (pick(random_, 0, 1) == 0) {
        const std::uint32_t bytes = pick(random_, 8, 2000);
        p.rows[p.row_count++] = {take(bytes).bus, 0, bytes};
      }
      g.products[g.count++] = p;
    }
  }
  byte_range take(std::uint64_t bytes) {
    next_ = (next_ + 63) / 64 * 64 + (pick(random_, 0, 5) == 0 ? pick(random_, 0, 9000) / 64 * 64 : 0);
    const byte_range taken{memory_base + next_, bytes};
    next_ += bytes;
    return taken;
  }
  channel_rows rows(std::uint32_t channels, std::uint32_t bytes) {
    const std::uint32_t stride = bytes + (pick(random_, 0, 3) == 0 ? pick(random_, 0, 20) : 0);
    return {take(std::uint64_t{channels - 1} * stride + bytes).bus, stride, bytes};
  }

  random_engine& random_;
  std::uint64_t next_ = 0;
};

std::uint64_t pages_of(std::uint64_t bytes, std::uint32_t page) {
  return (bytes + page - 1) / page;
}

// By page numbers alone.
class page_oracle {
 public:
  explicit page_oracle(const scene& s) : s_(s) {}

  // Bytes of the largest part of `channels` channels, wherever in memory it starts.
  static std::uint64_t part(const swap_product& p, std::uint32_t channels) {
    std::uint64_t bytes = 0;
    for (std::uint32_t r = 0; r < p.row_count; ++r) {
      bytes += (std::uint64_t{channels - 1} * p.rows[r].stride + p.rows[r].bytes + 63 + 63) / 64 * 64;
    }
    return bytes;
  }

  bool fits(const std::vector<bool>& staged, std::uint64_t staging_bytes) const {
    std::set<std::uint64_t> pages;
    const auto add = [&](const byte_range& r) {
      for (std::uint64_t p = r.bus / page(); r.bytes != 0 && p <= (r.end() - 1) / page(); ++p) {
        pages.insert(p);
      }
    };
    const swap_graph& g = s_.graph;
    for (const byte_range& r :
         {g.system, g.tokens, g.rope, g.embedding[0], g.embedding[1], g.cache, g.store, g.ffn_state}) {
      add(r);
    }
    for (std::uint32_t i = 0; i < g.count; ++i) {
      for (std::uint32_t r = 0; !staged[i] && r < g.products[i].row_count; ++r) {
        const channel_rows& rows = g.products[i].rows[r];
        add({rows.first, std::uint64_t{g.products[i].channels - 1} * rows.stride + rows.bytes});
      }
    }
    const std::uint64_t bus = pages_of(s_.room.bus, page()) * page();
    add({bus, staging_bytes});
    std::uint32_t runs = 0;
    for (const std::uint64_t p : pages) {
      runs += p == 0 || pages.count(p - 1) == 0 ? 1 : 0;
    }
    return pages.size() * page() <= s_.limits.bytes && runs <= s_.limits.entries &&
           (staging_bytes == 0 || bus + staging_bytes <= s_.room.end());
  }

  bool plan_exists() const {
    const swap_graph& g = s_.graph;
    if (fits(std::vector<bool>(g.count, false), 0)) {
      return true;
    }
    std::set<std::uint64_t> sizes;
    for (std::uint32_t i = 0; i < g.count; ++i) {
      if (!g.products[i].is_whole()) {
        sizes.insert(part(g.products[i], g.products[i].unit));
      }
    }
    for (const std::uint64_t size : sizes) {
      for (std::uint32_t which = 0; which < 4; ++which) {
        const bool stage_downs = (which & 1) != 0, stage_channels = (which & 2) != 0;
        std::vector<bool> staged(g.count);
        std::uint64_t whole = 0;
        for (std::uint32_t i = 0; i < g.count; ++i) {
          const swap_product& p = g.products[i];
          staged[i] = p.name == operator_label::ffn_down     ? stage_downs
                      : p.name == operator_label::ffn_update ? stage_channels
                                                             : part(p, p.unit) <= size;
          if (p.is_whole() && staged[i]) {
            whole = std::max(whole, pages_of(part(p, p.channels), page()) * page());
          }
        }
        if (fits(staged, 2 * pages_of(size, page()) * page() + whole)) {
          return true;
        }
      }
    }
    return false;
  }

 private:
  std::uint32_t page() const { return s_.limits.page_bytes; }

  const scene& s_;
};

void check_plan(const scene& s, const swap_plan& plan) {
  const swap_graph& g = s.graph;
  const std::uint32_t page = s.limits.page_bytes;
  // Runs: whole pages, without holes in the window, no page twice.
  std::uint64_t device = 0;
  std::uint64_t bus = 0;
  ASSERT_LE(plan.runs.count(), s.limits.entries);
  for (std::uint32_t i = 0; i < plan.runs.count(); ++i) {
    const page_run& run = plan.runs[i];
    ASSERT_EQ(run.device, device);
    ASSERT_TRUE(run.bus % page == 0 && run.bytes % page == 0 && run.bytes != 0 && run.bus >= bus);
    device += run.bytes;
    bus = run.bus + run.bytes;
  }
  ASSERT_LE(device, s.limits.bytes);

  std::vector<bool> staged(g.count);
  bool halves = false;
  bool wholes = false;
  std::uint64_t staged_bytes = 0;
  const auto pinned = [&](const byte_range& r) {
    if (r.bytes != 0) {
      const std::uint64_t first = plan.runs.device(r.bus);
      ASSERT_NE(first, page_runs::no_address);
      ASSERT_EQ(plan.runs.device(r.end() - 1), first + r.bytes - 1);
      const std::uint64_t staging = plan.runs.device(plan.staging_bus);
      if (plan.half_bytes + plan.whole_bytes != 0) {
        ASSERT_TRUE(first + r.bytes <= staging || first >= staging + 2 * plan.half_bytes + plan.whole_bytes);
      }
    }
  };
  for (const byte_range& r :
       {g.system, g.tokens, g.rope, g.embedding[0], g.embedding[1], g.cache, g.store, g.ffn_state}) {
    pinned(r);
  }
  for (std::uint32_t i = 0; i < g.count; ++i) {
    const swap_product& p = g.products[i];
    const product_place& place = plan.places[i];
    staged[i] = place.staged;
    if (!place.staged) {
      for (std::uint32_t r = 0; r < p.row_count; ++r) {
        pinned({p.rows[r].first, std::uint64_t{p.channels - 1} * p.rows[r].stride + p.rows[r].bytes});
      }
      continue;
    }
    staged_bytes += page_oracle::part(p, p.channels);
    (p.is_whole() ? wholes : halves) = true;
    ASSERT_TRUE(place.part_channels != 0 &&
                (p.is_whole() ? place.part_channels == p.channels
                              : place.part_channels % p.unit == 0 || place.part_channels == p.channels));
    for (std::uint32_t first = 0; first < p.channels; first += place.part_channels) {
      const part_layout layout = lay_out(p, first, part_length(p, place, first));
      std::uint64_t end = 0;
      for (std::uint32_t r = 0; r < p.row_count; ++r) {
        ASSERT_GE(layout.offset[r], end);
        ASSERT_EQ(layout.offset[r] % 64, layout.from[r].bus % 64);
        ASSERT_EQ(layout.from[r].bus, p.rows[r].first + first * p.rows[r].stride);
        end = layout.offset[r] + layout.from[r].bytes;
      }
      ASSERT_LE(end, p.is_whole() ? plan.whole_bytes : plan.half_bytes);
    }
  }
  EXPECT_EQ(plan.staged_bytes, staged_bytes);
  EXPECT_EQ(plan.half_bytes != 0, halves);
  EXPECT_EQ(plan.whole_bytes != 0, wholes);

  // Nothing is staged that could be pinned beside the rest.
  const page_oracle oracle(s);
  const std::uint64_t staging = 2 * plan.half_bytes + plan.whole_bytes;
  ASSERT_TRUE(oracle.fits(staged, staging));
  for (std::uint32_t i = 0; i < g.count; ++i) {
    if (staged[i]) {
      staged[i] = false;
      EXPECT_FALSE(oracle.fits(staged, staging)) << "product " << i << " could be pinned";
      staged[i] = true;
    }
  }
}

// Follows the copies and asks at every read whether the part is there.
class copy_checker final : public staging_sequence::copier {
 public:
  explicit copy_checker(const scene& s, const swap_plan& plan) : s_(s), plan_(plan) {
    sequence_.start(s.graph, plan, *this);
  }

  void copy(const staged_part& part, stage_area area) override {
    ++copies_;
    EXPECT_EQ(area == stage_area::whole, s_.graph.products[part.product].is_whole());
    EXPECT_TRUE(reading_.nothing() || contents_[area] != reading_) << "a copy overwrites what is being read";
    EXPECT_TRUE(!reading_whole_ || area != stage_area::whole) << "a copy overwrites what is needed whole";
    contents_[area] = part;
  }

  // Every read of the forward in the order of the kernels' schedules, `step` channels at a time.
  // skip: of an anchored forward, whether a layer's channels are left out.
  void forward(
      const kernels::forward_outline& outline, std::uint32_t step,
      const std::function<bool()>& skip = [] { return false; }) {
    const swap_graph& g = s_.graph;
    sequence_.begin(outline);
    sequence_.leave();
    for (std::uint32_t layer = 0; layer < g.layers; ++layer) {
      for (std::uint32_t tile = 0; tile < outline.tiles; ++tile) {
        read(swap_graph::index(layer, layer_product::key_value), step);
      }
      const bool selected = layer + 1 == g.layers && !outline.anchored;
      for (std::uint32_t tile = 0; tile < (selected ? outline.selected_tiles : outline.tiles); ++tile) {
        read(swap_graph::index(layer, layer_product::query), step);
        reading_ = {};
        sequence_.leave();
        read(swap_graph::index(layer, layer_product::output), step);
        if (!outline.anchored) {
          read(swap_graph::index(layer, layer_product::gate_up), step);
        } else if (!skip()) {
          read(g.channels(layer), ~0u);
        }
      }
    }
    for (std::uint32_t tile = 0; g.head() != no_product && tile < outline.selected_tiles; ++tile) {
      read(g.head(), step);
    }
    reading_ = {};
    reading_whole_ = false;
    sequence_.end();
  }

  std::uint32_t copies() const { return copies_; }

 private:
  bool there(const staged_part& part) const {
    return std::any_of(contents_.begin(), contents_.end(), [&](const auto& c) { return c.second == part; });
  }

  void read(std::uint32_t product, std::uint32_t step) {
    const swap_product& p = s_.graph.products[product];
    const product_place& place = plan_.places[product];
    for (std::uint32_t first = 0; first < p.channels;) {
      const staged_part part = part_from(product, place.staged ? first / place.part_channels * place.part_channels : 0);
      // The schedule is done with other parts, and with another layer's down, when it comes here.
      reading_ = reading_ == part ? part : staged_part{};
      reading_whole_ = reading_whole_ && p.layer == whole_layer_ && p.name != operator_label::head;
      // What is needed whole behind a layer that was passed over is there when it is entered.
      EXPECT_TRUE(!place.staged || p.is_whole() || there(part))
          << "part " << product << "+" << part.first << " comes too late";
      const std::uint32_t channels = sequence_.enter(product, first);
      ASSERT_NE(channels, 0u);
      if (p.is_whole()) {
        EXPECT_EQ(channels, kernels::residency::unlimited);
        EXPECT_TRUE(!place.staged || contents_.at(stage_area::whole) == part);
        reading_whole_ = place.staged;
        whole_layer_ = p.layer;
      } else if (place.staged) {
        EXPECT_TRUE(there(part));
        EXPECT_EQ(channels, std::min(p.channels, part.first + place.part_channels) - first);
        reading_ = part;
      } else {
        EXPECT_EQ(channels, kernels::residency::unlimited);
      }
      const std::uint32_t down = swap_graph::index(p.layer, layer_product::down);
      if (p.name == operator_label::ffn_gate && plan_.places[down].staged) {
        EXPECT_EQ(contents_.at(stage_area::whole), part_from(down, 0));
        reading_whole_ = true;
        whole_layer_ = p.layer;
      }
      first += std::min({step, channels, p.channels - first});
    }
  }

  const scene& s_;
  const swap_plan& plan_;
  staging_sequence sequence_;
  std::map<stage_area, staged_part> contents_;
  staged_part reading_;
  bool reading_whole_ = false;
  std::uint32_t whole_layer_ = 0;
  std::uint32_t copies_ = 0;
};

// Of the products that a forward reads.
std::uint32_t staged_parts(const scene& s, const swap_plan& plan, bool anchored) {
  std::uint32_t parts = 0;
  for (std::uint32_t i = 0; i < s.graph.count; ++i) {
    const product_place& place = plan.places[i];
    const operator_label name = s.graph.products[i].name;
    const bool full_block = name == operator_label::ffn_gate || name == operator_label::ffn_down;
    const bool read = anchored ? !full_block : name != operator_label::ffn_update;
    parts += place.staged && read ? (s.graph.products[i].channels + place.part_channels - 1) / place.part_channels : 0;
  }
  return parts;
}

void check_sequence(const scene& s, const swap_plan& plan, random_engine& random) {
  copy_checker copies(s, plan);
  for (std::uint32_t forward = 0; forward < 6; ++forward) {
    const std::uint32_t tiles = pick(random, 1, 3);
    const bool anchored = s.graph.channels(0) != no_product && pick(random, 0, 1) == 0;
    copies.forward(
        {.tiles = anchored ? 1 : tiles, .selected_tiles = pick(random, 0, anchored ? 1 : tiles), .anchored = anchored},
        pick(random, 1, 50), [&] { return pick(random, 0, 3) == 0; });
  }
  // From the third forward of one tile on, each copies every part at most once.
  for (const bool anchored : {false, true}) {
    if (anchored && s.graph.channels(0) == no_product) {
      return;
    }
    for (std::uint32_t forward = 0; forward < 3; ++forward) {
      const std::uint32_t before = copies.copies();
      copies.forward({.tiles = 1, .selected_tiles = 1, .anchored = anchored}, 1000);
      if (forward == 2) {
        EXPECT_LE(copies.copies() - before, staged_parts(s, plan, anchored));
      }
    }
  }
}

TEST(swap_plan, random_networks_and_windows) {
  testbench::scripted_machine watchdog;  // the planner only feeds it
  constexpr std::uint32_t seed = 20261130;
  std::cout << "seed " << seed << '\n';
  random_engine random(seed);
  std::uint32_t refused = 0, pinned = 0, staged = 0;
  auto space = std::make_unique<plan_workspace>();
  auto plan = std::make_unique<swap_plan>();
  for (std::uint32_t round = 0; round < 1500; ++round) {
    SCOPED_TRACE(::testing::Message() << "round " << round);
    const auto s = scene_maker(random).make();
    const std::uint64_t memory = s->room.bus - memory_base;
    s->limits.bytes = memory / 100 * pick(random, 5, 130) / s->limits.page_bytes * s->limits.page_bytes;
    s->limits.entries = pick(random, 0, 2) == 0 ? pick(random, 1, 12) : 64;
    if (pick(random, 0, 9) == 0) {
      s->room.bytes = pick(random, 0, 4000);
    }
    make_plan(s->graph, s->limits, s->room, true, *space, *plan);
    ASSERT_EQ(plan->fits, page_oracle(*s).plan_exists());
    if (!plan->fits) {
      ++refused;
      if (s->room.bytes > 4000) {
        // The size it names is the smallest that would do, were there entries.
        const std::uint64_t need = plan->need;
        s->limits.entries = page_runs::most;
        for (const std::uint64_t bytes : {need, need - s->limits.page_bytes}) {
          s->limits.bytes = bytes;
          make_plan(s->graph, s->limits, s->room, true, *space, *plan);
          ASSERT_EQ(plan->fits, bytes == need);
        }
      }
      continue;
    }
    (plan->staged_bytes == 0 ? pinned : staged) += 1;
    check_plan(*s, *plan);
    check_sequence(*s, *plan, random);
    if (::testing::Test::HasFailure()) {
      return;
    }
  }
  std::cout << refused << " refused, " << pinned << " all pinned, " << staged << " staged\n";
  EXPECT_TRUE(refused > 100 && pinned > 100 && staged > 300);
}

// Five products per layer, of 4,096 bytes each, every one in its own pages behind a gap.
std::unique_ptr<scene> ladder_of_products(std::uint32_t layers) {
  auto s = std::make_unique<scene>();
  s->limits = {.bytes = 1u << 30, .entries = 1024, .page_bytes = 1024};
  swap_graph& g = s->graph;
  std::uint64_t next = memory_base;
  const auto take = [&] {
    next += 8192;
    return next;
  };
  g.layers = layers;
  g.system = {take(), 1024};
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    for (const operator_label name :
         {operator_label::key_projection, operator_label::query_projection, operator_label::attn_output,
          operator_label::ffn_gate, operator_label::ffn_down}) {
      swap_product& p = g.products[g.count++];
      p = {.name = name, .layer = layer, .channels = 64, .unit = name == operator_label::ffn_down ? 64u : 32u};
      p.rows[p.row_count++] = {take(), 64, 64};
    }
  }
  s->room = {take(), 1u << 20};
  return s;
}

// Why a plan is refused, case by case: what is short, for whom, and that nothing else is told to be.
TEST(swap_plan, a_refusal_says_what_is_short) {
  using gen::window_shortage;
  testbench::scripted_machine watchdog;
  auto space = std::make_unique<plan_workspace>();
  auto plan = std::make_unique<swap_plan>();
  const auto refused = [&](const scene& s, bool staging) {
    make_plan(s.graph, s.limits, s.room, staging, *space, *plan);
    EXPECT_FALSE(plan->fits);
    return plan->shortage;
  };

  // Everything pinned: 1,024 bytes and six products of 4,096 fit in 25 KiB, the seventh is query of layer 1.
  auto s = ladder_of_products(3);
  s->limits.bytes = 25 * 1024;
  EXPECT_EQ(refused(*s, false), window_shortage::everything);
  EXPECT_EQ(plan->name, operator_label::query_projection);
  EXPECT_EQ(plan->layer, 1u);
  EXPECT_EQ(plan->need, 1024u + 15 * 4096);

  // With staging: two halves of one smallest part, of 2,048 bytes and up to 126 to keep alignment, and an area for
  // down.
  s->limits.bytes = 1024;
  EXPECT_EQ(refused(*s, true), window_shortage::operands);
  EXPECT_EQ(plan->need, 1024u + 2 * 3072 + 5120);
  EXPECT_NE(plan->name, operator_label::none);

  // Enough window, but nowhere to put the halves.
  s->limits.bytes = 25 * 1024;
  s->room.bytes = 4096;
  EXPECT_EQ(refused(*s, true), window_shortage::work_buffer);
  EXPECT_LE(plan->need, s->limits.bytes);

  // Runs that do not touch: one for the system, one per product.
  s = ladder_of_products(3);
  s->limits.entries = 15;
  EXPECT_EQ(refused(*s, false), window_shortage::entries);
  s->limits.entries = 1;
  EXPECT_EQ(refused(*s, true), window_shortage::entries);
  s = ladder_of_products(52);
  EXPECT_EQ(refused(*s, false), window_shortage::runs);
  EXPECT_GT(watchdog.feeds, 10u);
}

// A third of the window is short: what one forward of a block reads is staged, what several do stays.
TEST(swap_plan, what_fewer_forwards_read_is_staged_first) {
  testbench::scripted_machine watchdog;
  auto space = std::make_unique<plan_workspace>();
  auto plan = std::make_unique<swap_plan>();
  auto s = ladder_of_products(8);
  swap_graph& g = s->graph;
  const std::uint32_t products = g.count;
  for (std::uint32_t i = 0; i < products; ++i) {
    const operator_label name = g.products[i].name;
    g.products[i].uses = name == operator_label::ffn_gate || name == operator_label::ffn_down ? 1 : 5;
  }
  for (std::uint32_t layer = 0; layer < g.layers; ++layer) {
    swap_product& p = g.products[g.count++];
    p = {.name = operator_label::ffn_update, .layer = layer, .channels = 64, .unit = 64, .uses = 4};
    p.rows[p.row_count++] = {memory_base + (1u << 24) + layer * 8192, 64, 64};
  }
  // Room for all but ten of 48 products, and for what staging whole products would take.
  s->limits.bytes = 1024 + 38 * 4096 + 2 * 5120 + 5120;
  make_plan(g, s->limits, s->room, true, *space, *plan);
  ASSERT_TRUE(plan->fits);
  std::uint32_t staged = 0;
  for (std::uint32_t i = 0; i < g.count; ++i) {
    staged += plan->places[i].staged ? 1 : 0;
    EXPECT_TRUE(!plan->places[i].staged || g.products[i].uses == 1) << gen::name_of(g.products[i].name);
  }
  EXPECT_GE(staged, 8u);
  EXPECT_LE(staged, 11u);
}

// LLaDA-8B at 4.5 bits per weight, 3.66 GiB of layers, in windows of real accelerators: what is staged is what does not
// fit, plus the room that staging takes itself, and never more than one product above that.
TEST(swap_plan, llada_8b_in_published_windows) {
  testbench::scripted_machine watchdog;
  constexpr std::uint64_t gigabyte = 1'000'000'000;
  constexpr std::uint64_t positions = 256;
  constexpr std::uint32_t width = 4096, ffn = 12288, vocabulary = 126464, layers = 32;
  auto graph = std::make_unique<swap_graph>();
  std::uint64_t next = memory_base;
  const auto take = [&](std::uint64_t bytes) {
    const byte_range taken{next, bytes};
    next += (bytes + 63) / 64 * 64;
    return taken;
  };
  const auto product = [&](operator_label name, std::uint32_t layer, std::uint32_t channels, std::uint32_t inputs,
                           std::uint32_t matrices, std::uint32_t unit) {
    swap_product& p = graph->products[graph->count++];
    p = {.name = name, .layer = layer, .channels = channels, .unit = unit};
    for (std::uint32_t m = 0; m < matrices; ++m) {
      const std::uint32_t codes = inputs / 2, scales = inputs / 32 * 2;
      p.rows[p.row_count++] = {take(std::uint64_t{channels} * codes).bus, codes, codes};
      p.rows[p.row_count++] = {take(std::uint64_t{channels} * scales).bus, scales, scales};
    }
  };
  graph->layers = layers;
  graph->embedding[0] = take(std::uint64_t{vocabulary} * width / 32 * 18);
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    product(operator_label::key_projection, layer, width, width, 2, 128);
    product(operator_label::query_projection, layer, width, width, 1, 128);
    product(operator_label::attn_output, layer, width, width, 1, 32);
    product(operator_label::ffn_gate, layer, ffn, width, 2, 32);
    product(operator_label::ffn_down, layer, width, ffn, 1, width);
  }
  product(operator_label::head, 0, vocabulary, width, 1, 32);
  graph->rope = take(positions * 128 * 4);
  graph->cache = take(positions * (512u << 10));
  graph->tokens = take(positions * 4);
  graph->system = take(16u << 20);
  const byte_range room = take(gigabyte);
  const std::uint64_t everything = room.bus - memory_base;

  auto space = std::make_unique<plan_workspace>();
  auto plan = std::make_unique<swap_plan>();
  for (const std::uint64_t window : {2 * gigabyte, 3200 * gigabyte / 1000, 3500 * gigabyte / 1000,
                                     3750 * gigabyte / 1000, 4 * gigabyte, 5 * gigabyte}) {
    SCOPED_TRACE(window);
    make_plan(*graph, {.bytes = window / 4096 * 4096, .entries = 64, .page_bytes = 4096}, room, true, *space, *plan);
    ASSERT_TRUE(plan->fits);
    std::cout << static_cast<double>(window) / 1e9 << " GB: " << static_cast<double>(plan->staged_bytes) / 1e9
              << " GB staged per forward, halves of " << static_cast<double>(plan->half_bytes) / 1e6 << " MB, down "
              << static_cast<double>(plan->whole_bytes) / 1e6 << " MB, " << plan->runs.count() << " runs\n";
    const std::uint64_t lack = everything > window ? everything - window : 0;
    EXPECT_GE(plan->staged_bytes, lack);
    EXPECT_LE(plan->staged_bytes, lack == 0 ? 0 : lack + 2 * plan->half_bytes + plan->whole_bytes + (60u << 20));
  }
}

}  // namespace
}  // namespace dvp::dllm
