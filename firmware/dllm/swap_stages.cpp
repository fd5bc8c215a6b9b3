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
  const bool selected =
      phase_ == phase::head || (phase_ == phase::rest && layer_ + 1 == graph_->layers && !outline_.anchored);
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
  const std::uint32_t rest_products = outline_.anchored ? 2 : 3;
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
  whole_in_use_ = false;
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
  anchored_ = outline.anchored;
  bring_whole(0);
}

std::uint32_t staging_sequence::enter(std::uint32_t product, std::uint32_t first) {
  const swap_product& p = graph_->products[product];
  if (whole_in_use_ && (product == graph_->head() || p.layer != whole_layer_)) {
    leave_whole();
  }
  if (product == of(p.layer, layer_product::key_value) && !whole_in_use_) {
    bring_whole(p.layer);
  }
  std::uint32_t channels = residency::unlimited;
  const product_place& place = plan_->places[product];
  if (!place.staged || p.is_whole()) {
    leave();
  } else {
    const std::uint32_t part_first = first / place.part_channels * place.part_channels;
    if (!reach(part_from(product, part_first))) {
      return 0;
    }
    channels = part_length(p, place, part_first) - (first - part_first);
  }
  if (p.is_whole() || product == of(p.layer, layer_product::gate_up)) {
    reach_whole(p.layer);
  }
  return channels;
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
  if (whole_in_use_) {
    leave_whole();
  }
}

// What the forward needs whole of a layer.
std::uint32_t staging_sequence::whole_of(std::uint32_t layer) const {
  return anchored_ ? graph_->channels(layer) : of(layer, layer_product::down);
}

// The same, but the first that is staged of this layer and later ones, else of all; no_product when none is.
std::uint32_t staging_sequence::whole_from(std::uint32_t layer) const {
  for (std::uint32_t seen = 0; seen < graph_->layers; ++seen) {
    const std::uint32_t product = whole_of((layer + seen) % graph_->layers);
    if (product != no_product && plan_->places[product].staged) {
      return product;
    }
  }
  return no_product;
}

void staging_sequence::reach_whole(std::uint32_t layer) {
  const std::uint32_t product = whole_of(layer);
  if (product != no_product && plan_->places[product].staged) {
    bring(part_from(product, 0), stage_area::whole);
    whole_in_use_ = true;
    whole_layer_ = layer;
  }
}

void staging_sequence::leave_whole() {
  whole_in_use_ = false;
  bring_whole(whole_layer_ + 1);
}

// The next to be read from the layer on takes the area, which nobody reads any more.
void staging_sequence::bring_whole(std::uint32_t layer) {
  const std::uint32_t product = whole_from(layer);
  if (product != no_product) {
    bring(part_from(product, 0), stage_area::whole);
  }
}

}  // namespace dvp::dllm
