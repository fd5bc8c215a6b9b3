#include "firmware/dllm/swap_mapped.h"

#include <algorithm>

namespace dvp::dllm {
namespace {

using gen::operator_label;

constexpr std::uint32_t always_owner = 0;
constexpr std::uint32_t alignment = 64;

constexpr std::uint32_t embedding = 0;
constexpr std::uint32_t head = 1;
constexpr std::uint32_t first_layer = 2;

// Buffers and operators: embedding, head, then per layer attention, feed-forward network, cache (a buffer only),
// channels.
constexpr std::uint32_t per_layer = 4;
enum class part : std::uint32_t { attention, feed_forward, cache, channels };

constexpr std::uint32_t number(std::uint32_t layer, part which) {
  return first_layer + layer * per_layer + static_cast<std::uint32_t>(which);
}
constexpr std::uint32_t layer_of(std::uint32_t number) {
  return (number - first_layer) / per_layer;
}
constexpr part part_of(std::uint32_t number) {
  return static_cast<part>((number - first_layer) % per_layer);
}

std::uint32_t owner_of(std::uint32_t buffer) {
  return always_owner + 1 + buffer;
}

}  // namespace

std::uint32_t mapped_residency::operator_of(const kernels::operator_use& use) const {
  switch (use.name) {
    case operator_label::embedding:
      return embedding;
    case operator_label::head:
      return graph_->head() == no_product ? embedding : head;
    case operator_label::ffn_gate:
      return number(use.layer, part::feed_forward);
    case operator_label::ffn_update:
      return number(use.layer, part::channels);
    default:
      return number(use.layer, part::attention);
  }
}

mapped_residency::buffer_set mapped_residency::buffers_of(std::uint32_t op) const {
  if (op >= first_layer && part_of(op) == part::attention) {
    return {{op, number(layer_of(op), part::cache)}, 2};
  }
  return {{op, 0}, 1};
}

void mapped_residency::add_rows(std::uint32_t product, buffer_ranges& ranges) const {
  const swap_product& p = graph_->products[product];
  for (std::uint32_t r = 0; r < p.row_count; ++r) {
    ranges.range[ranges.count++] = p.rows[r].part(0, p.channels);
  }
}

mapped_residency::buffer_ranges mapped_residency::ranges_of(std::uint32_t buffer) const {
  buffer_ranges all;
  const auto add = [&](std::uint32_t layer, layer_product which) { add_rows(swap_graph::index(layer, which), all); };
  if (buffer == embedding) {
    for (const byte_range& r : graph_->embedding) {
      all.range[all.count] = r;
      all.count += r.bytes != 0 ? 1 : 0;
    }
  } else if (buffer == head) {
    add_rows(graph_->head(), all);
  } else if (const std::uint32_t layer = layer_of(buffer); part_of(buffer) == part::attention) {
    add(layer, layer_product::key_value);
    add(layer, layer_product::query);
    add(layer, layer_product::output);
  } else if (part_of(buffer) == part::feed_forward) {
    add(layer, layer_product::gate_up);
    add(layer, layer_product::down);
  } else if (part_of(buffer) == part::channels) {
    add_rows(graph_->channels(layer), all);
  } else {
    for (std::uint32_t c = 0; c < graph_->cached_count; ++c) {
      all.range[all.count++] = graph_->cached[c].of(layer);
    }
  }
  std::sort(all.range.begin(), all.range.begin() + all.count,
            [](const byte_range& a, const byte_range& b) { return a.bus < b.bus; });
  buffer_ranges merged;
  for (std::uint32_t i = 0; i < all.count; ++i) {
    byte_range* last = merged.count == 0 ? nullptr : &merged.range[merged.count - 1];
    if (last != nullptr && all.range[i].bus < last->end() + alignment) {
      last->bytes = std::max(last->end(), all.range[i].end()) - last->bus;
    } else {
      merged.range[merged.count++] = all.range[i];
    }
  }
  return merged;
}

bool mapped_residency::open(const swap_graph& graph, swap_window& window, mapped_space& space, bool keep,
                            swap_refusal& refusal) {
  graph_ = &graph;
  window_ = &window;
  space_ = &space;
  limits_ = window.limits();
  limits_.entries = std::min(limits_.entries, page_runs::most);
  keep_ = keep;
  inside_ = false;
  time_ = 0;
  operator_index_ = 0;
  std::array<byte_range, 5> always = {graph.system, graph.parameters, graph.tokens, graph.rope, graph.ffn_state};
  std::sort(always.begin(), always.end(), [](const byte_range& a, const byte_range& b) { return a.bus < b.bus; });
  space_->always.start(limits_.page_bytes, 0);
  for (const byte_range& r : always) {
    space_->always.add(r);
  }
  refusal = {};
  check(embedding, refusal);
  if (graph.head() != no_product) {
    check(head, refusal);
  }
  for (std::uint32_t layer = 0; layer < graph.layers; ++layer) {
    check(number(layer, part::attention), refusal);
    check(number(layer, part::feed_forward), refusal);
    if (graph.channels(layer) != no_product) {
      check(number(layer, part::channels), refusal);
    }
  }
  return refusal.name == operator_label::none;
}

// Refuses an operator whose buffers do not fit beside what is always mapped; the largest one is told.
void mapped_residency::check(std::uint32_t op, swap_refusal& refusal) {
  std::uint64_t bytes = space_->always.bytes();
  std::uint64_t entries = space_->always.count();
  const buffer_set set = buffers_of(op);
  for (std::uint32_t i = 0; i < set.count; ++i) {
    const buffer_ranges ranges = ranges_of(set.buffer[i]);
    space_->runs.start(limits_.page_bytes, 0);
    for (std::uint32_t r = 0; r < ranges.count; ++r) {
      space_->runs.add(ranges.range[r]);
    }
    bytes += space_->runs.bytes();
    entries += space_->runs.count();
  }
  if ((bytes <= limits_.bytes && entries <= limits_.entries) || bytes < refusal.need) {
    return;
  }
  refusal.need = bytes;
  refusal.shortage = bytes > limits_.bytes       ? gen::window_shortage::operands
                     : entries > page_runs::most ? gen::window_shortage::runs
                                                 : gen::window_shortage::entries;
  refusal.layer = op < first_layer ? 0 : layer_of(op);
  refusal.name = op == embedding                     ? operator_label::embedding
                 : op == head                        ? operator_label::head
                 : part_of(op) == part::feed_forward ? operator_label::ffn_gate
                 : part_of(op) == part::channels     ? operator_label::ffn_update
                                                     : operator_label::query_projection;
}

void mapped_residency::restart() {
  window_->addresses().clear();
  space_->slot_count = 0;
  space_->entry_used.fill(false);
  space_->last_index.fill(0);
  space_->last_time.fill(0);
  inside_ = false;
  for (std::uint32_t i = 0; i < space_->always.count(); ++i) {
    const page_run& run = space_->always[i];
    space_->entry_used[i] = true;
    window_->map(i, run);
    window_->add_range({.bus = run.bus, .bytes = run.bytes, .device = run.device, .owner = always_owner});
    window_->record_pinned(run);
  }
  for (const byte_range& written : {graph_->parameters, graph_->identity}) {
    if (written.bytes != 0) {
      window_->flush(device(written.bus), written.bytes);
    }
  }
}

void mapped_residency::begin(const kernels::forward_outline& outline) {
  window_->begin_forward(outline.anchored);
  window_->flush(device(graph_->tokens.bus), graph_->tokens.bytes);
  for (const byte_range& memory : window_->unflushed()) {
    for (std::uint32_t i = 0; i < space_->always.count(); ++i) {
      flush_part(space_->always[i], memory);
    }
    for (std::uint32_t s = 0; s < space_->slot_count; ++s) {
      flush_part(space_->slots[s].run, memory);
    }
  }
  window_->forget_written();
}

void mapped_residency::flush_part(const page_run& run, const byte_range& memory) {
  const std::uint64_t first = std::max(run.bus, memory.bus);
  const std::uint64_t end = std::min(run.bus + run.bytes, memory.end());
  if (first < end) {
    window_->flush(run.device + (first - run.bus), end - first);
  }
}

std::uint32_t mapped_residency::enter(const kernels::operator_use& use) {
  const std::uint32_t op = operator_of(use);
  if (!inside_ || op != current_) {
    leave();
    inside_ = true;
    current_ = op;
    map_operator(op);
    record(op, use);
  }
  return unlimited;
}

void mapped_residency::end() {
  window_->end_forward();
}

void mapped_residency::leave() {
  if (!inside_) {
    return;
  }
  const buffer_set set = buffers_of(current_);
  for (std::uint32_t i = 0; i < set.count; ++i) {
    space_->last_index[set.buffer[i]] = window_->stream().submitted();
    space_->last_time[set.buffer[i]] = ++time_;
  }
  inside_ = false;
  if (!keep_) {
    window_->stream().drain();
    unmap_all();
  }
}

bool mapped_residency::mapped(std::uint32_t buffer) const {
  return std::any_of(space_->slots.begin(), space_->slots.begin() + space_->slot_count,
                     [&](const mapped_space::slot& s) { return s.buffer == buffer; });
}

void mapped_residency::map_operator(std::uint32_t op) {
  const buffer_set set = buffers_of(op);
  for (std::uint32_t i = 0; i < set.count; ++i) {
    while (!mapped(set.buffer[i]) && !map_buffer(set.buffer[i])) {
      if (window_->stream().status() != drivers::npu_code::ok) {
        return;
      }
      if (!evict(set)) {
        // Only the operator's own buffers are left: together they fit, so from the start again.
        window_->stream().drain();
        unmap_all();
        i = 0;
      }
    }
  }
}

// Maps all runs of a buffer, or none.
bool mapped_residency::map_buffer(std::uint32_t buffer) {
  const buffer_ranges ranges = ranges_of(buffer);
  space_->runs.start(limits_.page_bytes, 0);
  for (std::uint32_t r = 0; r < ranges.count; ++r) {
    space_->runs.add(ranges.range[r]);
  }
  for (std::uint32_t i = 0; i < space_->runs.count(); ++i) {
    const std::uint32_t entry = static_cast<std::uint32_t>(
        std::find(space_->entry_used.begin(), space_->entry_used.begin() + limits_.entries, false) -
        space_->entry_used.begin());
    std::uint64_t at = 0;
    const std::uint32_t place = find_hole(space_->runs[i].bytes, at);
    if (entry == limits_.entries || place > space_->slot_count) {
      unmap(buffer);
      return false;
    }
    std::copy_backward(space_->slots.begin() + place, space_->slots.begin() + space_->slot_count,
                       space_->slots.begin() + space_->slot_count + 1);
    space_->slots[place] = {.run = {.bus = space_->runs[i].bus, .device = at, .bytes = space_->runs[i].bytes},
                            .buffer = buffer,
                            .entry = entry};
    ++space_->slot_count;
    space_->entry_used[entry] = true;
    window_->map(entry, space_->slots[place].run);
    for (std::uint32_t r = 0; r < ranges.count; ++r) {
      const byte_range& range = ranges.range[r];
      if (range.bus >= space_->runs[i].bus && range.end() <= space_->runs[i].bus + space_->runs[i].bytes) {
        window_->add_range({.bus = range.bus,
                            .bytes = range.bytes,
                            .device = at + (range.bus - space_->runs[i].bus),
                            .owner = owner_of(buffer)});
      }
    }
  }
  return true;
}

std::uint32_t mapped_residency::find_hole(std::uint64_t bytes, std::uint64_t& device) const {
  std::uint64_t free = space_->always.bytes();
  for (std::uint32_t s = 0; s < space_->slot_count; ++s) {
    if (space_->slots[s].run.device - free >= bytes) {
      device = free;
      return s;
    }
    free = space_->slots[s].run.device + space_->slots[s].run.bytes;
  }
  device = free;
  return limits_.bytes - free >= bytes && space_->slot_count < space_->slots.size() ? space_->slot_count
                                                                                    : space_->slot_count + 1;
}

// Unmaps the buffer that was not used for longest; false when there is none outside of `keep`.
bool mapped_residency::evict(const buffer_set& keep) {
  const mapped_space::slot* victim = nullptr;
  for (std::uint32_t s = 0; s < space_->slot_count; ++s) {
    if (!keep.has(space_->slots[s].buffer) &&
        (victim == nullptr || space_->last_time[space_->slots[s].buffer] < space_->last_time[victim->buffer])) {
      victim = &space_->slots[s];
    }
  }
  if (victim == nullptr) {
    return false;
  }
  const std::uint32_t buffer = victim->buffer;
  const std::uint32_t issued = space_->last_index[buffer];
  if (issued != 0 && !window_->stream().complete(issued - 1)) {
    window_->stream().drain();
  }
  unmap(buffer);
  return true;
}

void mapped_residency::unmap(std::uint32_t buffer) {
  window_->addresses().remove(owner_of(buffer));
  std::uint32_t kept = 0;
  for (std::uint32_t s = 0; s < space_->slot_count; ++s) {
    if (space_->slots[s].buffer == buffer) {
      space_->entry_used[space_->slots[s].entry] = false;
      window_->unmap(space_->slots[s].entry);
    } else {
      space_->slots[kept++] = space_->slots[s];
    }
  }
  space_->slot_count = kept;
}

void mapped_residency::unmap_all() {
  while (space_->slot_count != 0) {
    unmap(space_->slots[space_->slot_count - 1].buffer);
  }
}

void mapped_residency::record(std::uint32_t op, const kernels::operator_use& use) {
  if (!window_->recording()) {
    return;
  }
  ++operator_index_;
  const buffer_set set = buffers_of(op);
  for (std::uint32_t s = 0; s < space_->slot_count; ++s) {
    if (set.has(space_->slots[s].buffer)) {
      gen::swap_plan_entry entry;
      entry.bus_address = space_->slots[s].run.bus;
      entry.device_address = space_->slots[s].run.device;
      entry.bytes = space_->slots[s].run.bytes;
      entry.operator_index = operator_index_;
      entry.operator_name = static_cast<std::uint16_t>(use.name);
      entry.layer = static_cast<std::uint16_t>(use.layer);
      entry.how = gen::residence::mapped;
      window_->record(entry);
    }
  }
}

}  // namespace dvp::dllm
