#include "firmware/dllm/swap_staged.h"

#include <algorithm>

namespace dvp::dllm {
namespace {

using gen::operator_label;
using kernels::dram_object;

constexpr std::uint32_t pinned_owner = 0;
constexpr std::uint64_t longest_copy = std::uint64_t{1} << 30;

std::uint32_t owner_of(stage_area area) {
  return pinned_owner + 1 + static_cast<std::uint32_t>(area);
}

dram_object object_of(stage_area area) {
  switch (area) {
    case stage_area::low:
      return dram_object::staged_low;
    case stage_area::high:
      return dram_object::staged_high;
    case stage_area::whole:
      return dram_object::staged_whole;
  }
  return dram_object::nothing;
}

}  // namespace

void staged_residency::open(const swap_graph& graph, const swap_plan& plan, swap_window& window) {
  graph_ = &graph;
  plan_ = &plan;
  window_ = &window;
  last_use_ = {};
  operator_index_ = 0;
}

void staged_residency::restart() {
  window_->addresses().clear();
  for (std::uint32_t i = 0; i < plan_->runs.count(); ++i) {
    const page_run& run = plan_->runs[i];
    window_->map(i, run);
    window_->add_range({.bus = run.bus, .bytes = run.bytes, .device = run.device, .owner = pinned_owner});
    window_->record_pinned(run);
  }
  sequence_.start(*graph_, *plan_, *this);
  for (const byte_range& written : {graph_->parameters, graph_->identity}) {
    if (written.bytes != 0) {
      window_->flush(plan_->runs.device(written.bus), written.bytes);
    }
  }
}

void staged_residency::begin(const kernels::forward_outline& outline) {
  window_->begin_forward(outline.anchored);
  window_->flush(plan_->runs.device(graph_->tokens.bus), graph_->tokens.bytes);
  for (const byte_range& memory : window_->unflushed()) {
    window_->flush(plan_->runs.device(memory.bus), memory.bytes);
  }
  window_->forget_written();
  sequence_.begin(outline);
}

std::uint32_t staged_residency::product_of(const kernels::operator_use& use) const {
  switch (use.name) {
    case operator_label::key_projection:
      return swap_graph::index(use.layer, layer_product::key_value);
    case operator_label::query_projection:
      return swap_graph::index(use.layer, layer_product::query);
    case operator_label::attn_output:
      return swap_graph::index(use.layer, layer_product::output);
    case operator_label::ffn_gate:
      return swap_graph::index(use.layer, layer_product::gate_up);
    case operator_label::ffn_update:
      return graph_->channels(use.layer);
    case operator_label::head:
      return graph_->head();
    default:
      return no_product;
  }
}

std::uint32_t staged_residency::enter(const kernels::operator_use& use) {
  const std::uint32_t product = product_of(use);
  if (product == no_product) {
    sequence_.leave();
    return unlimited;
  }
  const std::uint32_t channels = sequence_.enter(product, use.first);
  if (channels == 0) {
    window_->stream().fail(drivers::npu_code::window);
    return unlimited;
  }
  record_use(use);
  return channels;
}

// What is copied behind the fence of a forward is on its way while the CPU looks at the results.
void staged_residency::end() {
  sequence_.end();
  window_->stream().flush();
  window_->end_forward();
}

std::uint64_t staged_residency::area_device(stage_area area) const {
  return area == stage_area::whole ? plan_->whole_device() : plan_->half_device(area == stage_area::low ? 0 : 1);
}

void staged_residency::copy(const staged_part& part, stage_area area) {
  const swap_product& product = graph_->products[part.product];
  const part_layout layout =
      lay_out(product, part.first, part_length(product, plan_->places[part.product], part.first));
  window_->addresses().remove(owner_of(area));
  for (std::uint32_t r = 0; r < product.row_count; ++r) {
    const byte_range& from = layout.from[r];
    const std::uint64_t to = area_device(area) + layout.offset[r];
    for (std::uint64_t done = 0; done < from.bytes; done += longest_copy) {
      window_->stream().stage({.bus = from.bus + done,
                               .device = to + done,
                               .bytes = static_cast<std::uint32_t>(std::min(longest_copy, from.bytes - done)),
                               .object = object_of(area),
                               .purpose = product.rows[r].purpose,
                               .name = product.name,
                               .layer = product.layer});
    }
    window_->count_staged(from.bytes);
    window_->add_range(
        {.bus = from.bus, .bytes = from.bytes, .device = to, .owner = owner_of(area), .object = object_of(area)});
  }
}

void staged_residency::record_use(const kernels::operator_use& use) {
  if (!window_->recording()) {
    return;
  }
  const bool goes_on = use.name == last_use_.name && use.layer == last_use_.layer && use.first > last_use_.first;
  const std::uint32_t product = product_of(use);
  const product_place& place = plan_->places[product];
  const auto part_of = [&](const kernels::operator_use& u) { return u.first / place.part_channels; };
  const bool same_part = goes_on && (!place.staged || part_of(use) == part_of(last_use_));
  last_use_ = use;
  operator_index_ += goes_on ? 0 : 1;
  if (same_part) {
    return;
  }
  if (place.staged) {
    const staged_part part = part_from(product, part_of(use) * place.part_channels);
    record_part(part, graph_->products[product].is_whole()      ? stage_area::whole
                      : sequence_.held(stage_area::low) == part ? stage_area::low
                                                                : stage_area::high);
  }
  const std::uint32_t down = swap_graph::index(use.layer, layer_product::down);
  if (use.name == operator_label::ffn_gate && !goes_on && plan_->places[down].staged) {
    record_part(part_from(down, 0), stage_area::whole);
  }
}

void staged_residency::record_part(const staged_part& part, stage_area area) {
  const swap_product& product = graph_->products[part.product];
  const part_layout layout =
      lay_out(product, part.first, part_length(product, plan_->places[part.product], part.first));
  for (std::uint32_t r = 0; r < product.row_count; ++r) {
    gen::swap_plan_entry entry;
    entry.bus_address = layout.from[r].bus;
    entry.device_address = area_device(area) + layout.offset[r];
    entry.bytes = layout.from[r].bytes;
    entry.operator_index = operator_index_;
    entry.operator_name = static_cast<std::uint16_t>(product.name);
    entry.layer = static_cast<std::uint16_t>(product.layer);
    entry.how = gen::residence::staged;
    entry.half = area == stage_area::high ? 1 : 0;  // what is needed whole has its own area
    window_->record(entry);
  }
}

}  // namespace dvp::dllm
