#include "tlm/lpddr5/engine/memory_system.h"

#include <algorithm>
#include <deque>
#include <stdexcept>
#include <string>

#include "tlm/lpddr5/engine/access_splitter.h"
#include "tlm/lpddr5/engine/channel.h"
#include "tlm/lpddr5/engine/open_runs.h"
#include "tlm/lpddr5/engine/stream_rates.h"

namespace dvp::lpddr5 {

// What the channels tell is gathered per access here.
struct memory_system::parts : burst_sink {
  struct slot {
    std::uint64_t id = 0;
    cycles begin = 0;
    cycles accepted = 0;
    cycles finished = 0;
    std::uint32_t unqueued = 0;
    std::uint32_t unfinished = 0;
    bool write = false;
  };

  parts(const device& d, const rule_table& rule_rows, const controller_config& policies, const address_mapping& map,
        access_sink& listener, command_sink* commands)
      : dev(d), rules(rule_rows), config(policies), mapping(map), sink(listener), splitter(dev, config, mapping) {
    const std::uint64_t planes = config.tagged.layout == data_layout::bytes    ? 1
                                 : config.tagged.layout == data_layout::nibble ? 2
                                                                               : 8;
    for (std::uint64_t plane = 1; plane < planes; ++plane) {
      if (mapping.decode(plane * dev.shape.burst_bytes()).channel == mapping.decode(0).channel) continue;
      throw std::invalid_argument("the layout keeps " + std::to_string(planes) +
                                  " bursts of one channel together: "
                                  "interleave channels by " +
                                  std::to_string(planes * dev.shape.burst_bytes()) + " bytes or more");
    }
    figures.channels.resize(mapping.channels());
    for (std::uint32_t c = 0; c < mapping.channels(); ++c) {
      channels.emplace_back(c, dev, rules, config, figures.channels[c], *this, commands);
    }
  }

  void queued(const burst& b, cycles at) override {
    slot& s = slots[b.access];
    s.accepted = std::max(s.accepted, at);
    if (--s.unqueued != 0) return;
    --waiting;
    last_event = std::max(last_event, s.accepted - config.frontend_cycles);
    sink.accepted(s.id, s.accepted - config.frontend_cycles);
  }

  void finished(const burst& b, cycles at) override {
    slot& s = slots[b.access];
    s.finished = std::max(s.finished, at);
    if (--s.unfinished != 0) return;
    complete(s.id, s.begin, s.finished + config.backend_cycles, s.write);
    free_slots.push_back(b.access);
    --unfinished;
  }

  void complete(std::uint64_t id, cycles begin, cycles end, bool write) {
    (write ? figures.write_latency : figures.read_latency).add(end - begin);
    last_event = std::max(last_event, end);
    sink.finished(id, end);
  }

  std::uint32_t take_slot() {
    if (free_slots.empty()) {
      slots.emplace_back();
      return static_cast<std::uint32_t>(slots.size() - 1);
    }
    const std::uint32_t s = free_slots.back();
    free_slots.pop_back();
    return s;
  }

  void count(const access& a) {
    ++(a.write ? figures.writes : figures.reads);
    if (a.write) {
      figures.write_bytes += a.bytes;
      return;
    }
    figures.read_bytes += (a.bytes * a.precision + 7) / 8;
    precision_figures& p = figures.by_precision[a.precision];
    ++p.reads;
    p.elements += a.bytes;
  }

  void submit(cycles at, const access& a);
  bool is_regular(const access& a);
  void serve_in_one_step(cycles at, const access& a);
  template <typename Condition>
  void run_while(channel& c, Condition holds);

  const device dev;
  const rule_table rules;
  const controller_config config;
  const address_mapping mapping;
  access_sink& sink;
  access_splitter splitter;
  system_figures figures;
  std::deque<channel> channels;  // stable addresses
  std::vector<slot> slots;
  std::vector<std::uint32_t> free_slots;
  std::size_t waiting = 0;
  std::size_t unfinished = 0;
  cycles now = 0;
  cycles last_event = 0;
  open_runs runs;
  std::unique_ptr<stream_rates> rates;  // made by the first access served in one step
};

void memory_system::parts::submit(cycles at, const access& a) {
  now = std::max(now, at);
  count(a);
  if (a.precision == 0 && !a.write) {
    // Nothing is read: no command, no row, no time.
    last_event = std::max(last_event, now);
    sink.accepted(a.id, now);
    complete(a.id, now, now, false);
    return;
  }
  if (is_regular(a)) {
    serve_in_one_step(now, a);
    return;
  }
  const std::uint32_t s = take_slot();
  const auto& pieces = splitter.split(a, s, figures.by_precision[a.write ? 0 : a.precision]);
  slots[s] = slot{a.id, now, 0, 0, 0, 0, a.write};
  slots[s].unqueued = slots[s].unfinished = static_cast<std::uint32_t>(pieces.size());
  ++waiting;
  ++unfinished;
  for (const auto& p : pieces) channels[p.channel].push(now + config.frontend_cycles, p.what);
}

// Whether the access is long, and a block or a read that others have led up to end to end for eight rows of every
// channel: what it costs to begin and to end does not matter then.
bool memory_system::parts::is_regular(const access& a) {
  if (config.stream_bytes == 0) return false;
  if (a.is_block()) return a.bytes >= config.stream_bytes;
  if (a.write) return false;
  const std::uint64_t length = runs.extend(a);
  return a.bytes >= config.stream_bytes && length >= 8 * dev.shape.bytes_per_row() * mapping.channels();
}

void memory_system::parts::serve_in_one_step(cycles at, const access& a) {
  if (!rates) rates = std::make_unique<stream_rates>(dev, rules, config, mapping);
  cycles begin = at + config.frontend_cycles;
  for (auto& c : channels) {
    run_while(c, [](const channel& busy) { return !busy.idle(); });
    begin = std::max(begin, c.free_from());
  }
  for (auto& c : channels) c.advance(begin);
  const stream_rates::step step = rates->serve(a.bytes, pattern_of(a));
  for (auto& c : channels) c.skip_to(begin, begin + step.duration);
  ++figures.streamed_accesses;
  figures.streamed_bytes += a.bytes;
  now = std::max(now, begin - config.frontend_cycles);
  sink.accepted(a.id, begin - config.frontend_cycles);
  complete(a.id, at, begin + step.duration + step.latency + config.backend_cycles, a.write);
}

// One thing after another until the condition fails. A channel that does so much without serving a burst cannot serve
// it: its timing leaves no room between two refreshes.
template <typename Condition>
void memory_system::parts::run_while(channel& c, Condition holds) {
  constexpr std::uint64_t patience = 1'000'000;
  std::uint64_t bursts = c.bursts();
  for (std::uint64_t steps = 0; holds(c); ++steps) {
    c.step(never);
    if (c.bursts() != bursts) {
      bursts = c.bursts();
      steps = 0;
    } else if (steps > patience) {
      throw std::runtime_error(dev.id +
                               ": a million commands without a read or write; the timing leaves no room "
                               "between refreshes");
    }
  }
}

memory_system::memory_system(const device& d, const rule_table& rules, const controller_config& config,
                             const address_mapping& mapping, access_sink& sink, command_sink* commands)
    : parts_(std::make_unique<parts>(d, rules, config, mapping, sink, commands)) {}

memory_system::~memory_system() = default;

void memory_system::submit(cycles at, const access& a) {
  parts_->submit(at, a);
}

void memory_system::advance(cycles until) {
  for (auto& c : parts_->channels) c.advance(until);
  parts_->now = std::max(parts_->now, until);
}

cycles memory_system::next_event() const {
  if (parts_->unfinished == 0) return never;
  cycles next = never;
  for (auto& c : parts_->channels) next = std::min(next, c.next_event());
  return next;
}

cycles memory_system::next_step() const {
  cycles next = never;
  for (auto& c : parts_->channels) next = std::min(next, c.next_happening());
  return next;
}

cycles memory_system::settle() {
  for (auto& c : parts_->channels) {
    parts_->run_while(c, [](const channel& busy) { return !busy.inbox_empty(); });
  }
  cycles last = parts_->now;
  for (auto& c : parts_->channels) last = std::max(last, c.last_queued() - parts_->config.frontend_cycles);
  parts_->now = last;
  return last;
}

cycles memory_system::drain() {
  for (auto& c : parts_->channels) {
    parts_->run_while(c, [](const channel& busy) { return !busy.idle(); });
    parts_->last_event = std::max(parts_->last_event, c.free_from());
  }
  return parts_->last_event;
}

std::size_t memory_system::waiting() const {
  return parts_->waiting;
}

std::size_t memory_system::unfinished() const {
  return parts_->unfinished;
}

const system_figures& memory_system::figures(cycles until) {
  for (auto& c : parts_->channels) c.settle_figures(until);
  if (parts_->rates) parts_->rates->settle_figures(parts_->figures);
  parts_->figures.now = until;
  return parts_->figures;
}

cycles memory_system::now() const {
  return parts_->now;
}

std::uint64_t memory_system::bytes() const {
  return parts_->mapping.bytes();
}

const device& memory_system::of() const {
  return parts_->dev;
}

const controller_config& memory_system::config() const {
  return parts_->config;
}

const address_mapping& memory_system::mapping() const {
  return parts_->mapping;
}

}  // namespace dvp::lpddr5
