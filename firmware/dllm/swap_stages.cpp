#include "firmware/dllm/swap_stages.h"

#include <algorithm>

namespace dvp::dllm {
namespace {

using kernels::residency;

std::uint32_t of(std::uint32_t layer, layer_product which) {
  return swap_graph::index(layer, which);
}

}  // namespace

void part_cursor::start(const swap_graph& graph, const swap_plan& plan, const kernels::forward_outline& outline) {
  graph_ = &graph;
  plan_ = &plan;
  outline_ = outline;
  phase_ = phase::keys_values;
  layer_ = tile_ = which_ = first_ = rounds_ = 0;
  last_ = {};
}

std::uint32_t part_cursor::tiles() const {
  const bool selected = phase_ == phase::head || (phase_ == phase::rest && layer_ + 1 == graph_->layers);
  return selected ? outline_.selected_tiles : outline_.tiles;
}

std::uint32_t part_cursor::product() const {
  if (tile_ >= tiles()) {
    return no_product;
  }
  switch (phase_) {
    case phase::keys_values:
      return of(layer_, layer_product::key_value);
    case phase::rest:
      return of(layer_, which_ == 0   ? layer_product::query
                        : which_ == 1 ? layer_product::output
                                      : layer_product::gate_up);
    case phase::head:
      return graph_->head();
  }
  return no_product;
}

void part_cursor::next_product() {
  constexpr std::uint32_t rest_products = 3;
  first_ = 0;
  if (phase_ == phase::rest && ++which_ < rest_products) {
    return;
  }
  which_ = 0;
  if (++tile_ < tiles()) {
    return;
  }
  tile_ = 0;
  if (phase_ == phase::keys_values) {
    phase_ = phase::rest;
  } else if (phase_ == phase::rest && ++layer_ < graph_->layers) {
    phase_ = phase::keys_values;
  } else if (phase_ == phase::rest) {
    layer_ = 0;
    phase_ = phase::head;
  } else {
    phase_ = phase::keys_values;
    ++rounds_;
  }
}

staged_part part_cursor::next() {
  for (rounds_ = 0; rounds_ < 2;) {
    const std::uint32_t at = product();
    const bool staged = at != no_product && plan_->places[at].staged;
    if (!staged || first_ >= graph_->products[at].channels) {
      last_ = staged || at == no_product ? last_ : staged_part{};
      next_product();
      continue;
    }
    const staged_part part = part_from(at, first_);
    first_ += plan_->places[at].part_channels;
    if (part != last_) {
      last_ = part;
      return part;
    }
  }
  return {};
}

void staging_sequence::start(const swap_graph& graph, const swap_plan& plan, copier& copies) {
  graph_ = &graph;
  plan_ = &plan;
  copies_ = &copies;
  held_ = {};
  current_ = {};
  ahead_count_ = 0;
  waiting_ = {};
  down_in_use_ = false;
}

void staging_sequence::bring(const staged_part& part, stage_area area) {
  staged_part& held = held_[static_cast<std::uint32_t>(area)];
  if (held != part) {
    held = part;
    copies_->copy(part, area);
  }
}

bool staging_sequence::in_use(stage_area area) const {
  const auto uses = [&](const expected& e) { return !e.part.nothing() && e.area == area; };
  return uses(current_) || std::any_of(ahead_.begin(), ahead_.begin() + ahead_count_, uses);
}

void staging_sequence::look_ahead() {
  while (ahead_count_ < most_ahead) {
    if (waiting_.nothing()) {
      waiting_ = cursor_.next();
    }
    const bool low =
        held(stage_area::low) == waiting_ || (held(stage_area::high) != waiting_ && !in_use(stage_area::low));
    const stage_area area = low ? stage_area::low : stage_area::high;
    if (waiting_.nothing() || (held(area) != waiting_ && in_use(area))) {
      return;
    }
    bring(waiting_, area);
    ahead_[ahead_count_++] = {waiting_, area};
    waiting_ = {};
  }
}

void staging_sequence::begin(const kernels::forward_outline& outline) {
  cursor_.start(*graph_, *plan_, outline);
  current_ = {};
  ahead_count_ = 0;
  waiting_ = {};
  look_ahead();
  const std::uint32_t down = first_down();
  if (down != no_product) {
    bring(part_from(down, 0), stage_area::down);
  }
}

std::uint32_t staging_sequence::enter(std::uint32_t product, std::uint32_t first) {
  const swap_product& p = graph_->products[product];
  if (down_in_use_ && (product == graph_->head() || p.layer != down_layer_)) {
    leave_down();
  }
  std::uint32_t channels = residency::unlimited;
  const product_place& place = plan_->places[product];
  if (!place.staged) {
    leave();
  } else {
    const std::uint32_t part_first = first / place.part_channels * place.part_channels;
    if (!reach(part_from(product, part_first))) {
      return 0;
    }
    channels = part_length(p, place, part_first) - (first - part_first);
  }
  const bool needs_down = product == of(p.layer, layer_product::gate_up);
  return needs_down && !reach_down(p.layer) ? 0 : channels;
}

bool staging_sequence::reach(const staged_part& part) {
  if (current_.part == part) {
    return true;
  }
  leave();
  if (ahead_count_ == 0 || ahead_[0].part != part) {
    return false;
  }
  current_ = ahead_[0];
  std::copy(ahead_.begin() + 1, ahead_.begin() + ahead_count_, ahead_.begin());
  --ahead_count_;
  look_ahead();
  return true;
}

void staging_sequence::leave() {
  current_ = {};
  look_ahead();
}

void staging_sequence::end() {
  leave();
  if (down_in_use_) {
    leave_down();
  }
}

bool staging_sequence::reach_down(std::uint32_t layer) {
  const std::uint32_t down = of(layer, layer_product::down);
  if (!plan_->places[down].staged) {
    return true;
  }
  down_in_use_ = true;
  down_layer_ = layer;
  return held(stage_area::down) == part_from(down, 0);
}

void staging_sequence::leave_down() {
  down_in_use_ = false;
  bring(part_from(down_behind(down_layer_), 0), stage_area::down);
}

std::uint32_t staging_sequence::first_down() const {
  for (std::uint32_t layer = 0; layer < graph_->layers; ++layer) {
    if (plan_->places[of(layer, layer_product::down)].staged) {
      return of(layer, layer_product::down);
    }
  }
  return no_product;
}

std::uint32_t staging_sequence::down_behind(std::uint32_t layer) const {
  while (++layer < graph_->layers) {
    if (plan_->places[of(layer, layer_product::down)].staged) {
      return of(layer, layer_product::down);
    }
  }
  return first_down();
}

}  // namespace dvp::dllm
