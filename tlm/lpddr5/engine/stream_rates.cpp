#include "tlm/lpddr5/engine/stream_rates.h"

#include <cmath>

#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {

namespace {

constexpr cycles measured_intervals = 8;

class nobody : public access_sink {
  void accepted(std::uint64_t, cycles) override {}
  void finished(std::uint64_t, cycles) override {}
};

// Every counter that grows with the bytes read. Refreshes, times of power states and queue occupancy do not.
template <typename Figures, typename Visit>
void for_each_counter(Figures& figures, std::uint8_t precision, Visit visit) {
  for (auto& c : figures.channels) {
    const auto commands = [&](auto& counts) {
      for (std::size_t i = 0; i < command_count; ++i) {
        if (i != static_cast<std::size_t>(command::ref_all) && i != static_cast<std::size_t>(command::ref_bank)) {
          visit(counts[i]);
        }
      }
    };
    commands(c.commands);
    for (auto& bank : c.bank_commands) commands(bank);
    visit(c.read_bursts);
    visit(c.row_hits);
    visit(c.row_misses);
    visit(c.row_conflicts);
    visit(c.column_accesses);
    visit(c.busy_cycles);
    visit(c.wck_starts);
    for (auto& idle : c.idle_cycles) visit(idle);
  }
  auto& p = figures.by_precision[precision];
  visit(p.delivered_bits);
  visit(p.padding_bits);
  visit(p.scale_bits);
  visit(p.core_bits);
  visit(p.io_bound);
  visit(p.core_bound);
}

std::vector<std::uint64_t> counters(const system_figures& figures, std::uint8_t precision) {
  std::vector<std::uint64_t> values;
  for_each_counter(figures, precision, [&](const std::uint64_t& value) { values.push_back(value); });
  return values;
}

}  // namespace

stream_rates::stream_rates(const device& d, const rule_table& rules, const controller_config& config,
                           const address_mapping& mapping)
    : device_(d), rules_(rules), config_(config), mapping_(mapping) {
  config_.stream_bytes = 0;
}

stream_rates::rate stream_rates::measure(const run_pattern& pattern) const {
  nobody listener;
  memory_system memory(device_, rules_, config_, mapping_, listener, nullptr);
  access a;
  const bool end_to_end = pattern.bytes == 0;
  a.bytes = end_to_end ? std::uint64_t{4096} * mapping_.channels() : pattern.bytes;
  a.precision = pattern.precision;
  a.tagged = pattern.tagged;
  const std::uint64_t stride = end_to_end ? a.bytes : pattern.stride;
  const std::uint64_t places = mapping_.bytes() / stride;
  const std::uint8_t precision = pattern.precision;
  std::uint64_t place = 0;
  const auto read_until = [&](cycles end) {
    while (memory.now() < end) {
      memory.submit(memory.now(), a);
      memory.settle();
      place = (place + 1) % places;
      a.address = place * stride;
    }
  };
  // From refresh to refresh, so that the share of refreshed time is whole; after as long as refreshes may be put off.
  read_until(device_.times.REFI * (config_.refresh_postpone + config_.refresh_pull_in + 2) - device_.times.REFI / 2);
  const cycles begin = memory.now();
  const auto before = counters(memory.figures(begin), precision);
  const std::uint64_t bytes_before = memory.figures(begin).by_precision[precision].elements;
  read_until(begin + measured_intervals * device_.times.REFI);
  const cycles end = memory.now();
  const auto after = counters(memory.figures(end), precision);
  const auto bytes = static_cast<double>(memory.figures(end).by_precision[precision].elements - bytes_before);

  rate r;
  r.clocks_per_byte = static_cast<double>(end - begin) / bytes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    r.per_byte.push_back(static_cast<double>(after[i] - before[i]) / bytes);
  }
  r.carried.resize(r.per_byte.size());
  return r;
}

stream_rates::rate& stream_rates::rate_of(const run_pattern& pattern) {
  if (last_ != nullptr && last_pattern_ == pattern) return *last_;
  auto found = rates_.find(pattern);
  if (found == rates_.end()) found = rates_.emplace(pattern, measure(pattern)).first;
  last_pattern_ = pattern;
  last_ = &found->second;
  return *last_;
}

namespace {

// The whole part of what there is; the rest is carried.
std::uint64_t whole_part(double more, double& carried) {
  const double exact = more + carried;
  const double whole = std::floor(exact);
  carried = exact - whole;
  return static_cast<std::uint64_t>(whole);
}

}  // namespace

stream_rates::step stream_rates::serve(std::uint64_t bytes, const run_pattern& pattern) {
  rate& r = rate_of(pattern);
  r.unsettled += bytes;
  step s;
  s.duration = static_cast<cycles>(whole_part(r.clocks_per_byte * static_cast<double>(bytes), r.clocks_carried));
  s.latency = device_.times.RL + device_.times.BL_n_min;
  return s;
}

void stream_rates::settle_figures(system_figures& figures) {
  for (auto& [pattern, r] : rates_) {
    if (r.unsettled == 0) continue;
    std::size_t i = 0;
    for_each_counter(figures, pattern.precision, [&](std::uint64_t& value) {
      value += whole_part(r.per_byte[i] * static_cast<double>(r.unsettled), r.carried[i]);
      ++i;
    });
    r.unsettled = 0;
  }
}

}  // namespace dvp::lpddr5
