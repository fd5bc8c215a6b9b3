#include "tlm/lpddr5/engine/stream_rates.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {

namespace {

constexpr cycles measured_intervals = 8;

// What a copy reads before it writes it.
constexpr std::uint64_t copied_bytes = 4096;

class nobody : public access_sink {
  void accepted(std::uint64_t, cycles) override {}
  void finished(std::uint64_t, cycles) override {}
};

// Accesses of a pattern one after another, through the whole memory and over again.
class regular_accesses {
 public:
  // `piece`: bytes of one that is end to end.
  regular_accesses(const access_pattern& p, std::uint64_t memory_bytes, std::uint64_t piece)
      : stride_(p.bytes == 0 ? piece : p.stride), places_(memory_bytes / stride_), taken_(std::exp2(32 - p.gap / 4.0)) {
    next_.bytes = p.bytes == 0 ? piece : p.bytes;
    next_.write = p.write;
    next_.precision = p.precision;
    next_.tagged = p.tagged;
  }

  const access& next() {
    do {
      place_ = (place_ + 1) % places_;
    } while (static_cast<double>(random_()) >= taken_);
    next_.address = place_ * stride_;
    return next_;
  }

 private:
  access next_;
  std::uint64_t stride_;
  std::uint64_t places_;
  std::uint64_t place_ = 0;
  double taken_;  // of 2^32
  std::mt19937 random_;
};

// Every counter that grows with the bytes moved. Refreshes, times of power states and queue occupancy do not.
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
    visit(c.write_bursts);
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

stream_rates::rate stream_rates::measure(const access_pattern& pattern, bool between_reads) const {
  nobody listener;
  memory_system memory(device_, rules_, config_, mapping_, listener, nullptr);
  const std::uint64_t piece = between_reads ? copied_bytes : std::uint64_t{4096} * mapping_.channels();
  // Whole rows are inside whatever their stride.
  const std::uint64_t half = mapping_.bytes() / 2;
  regular_accesses measured(pattern, half, piece);
  regular_accesses read({}, half, piece);
  std::uint64_t bytes = 0;
  const auto run_until = [&](cycles end) {
    while (memory.now() < end) {
      if (between_reads) {
        access other = read.next();
        other.address += half;
        memory.submit(memory.now(), other);
        memory.settle();
      }
      const access& next = measured.next();
      memory.submit(memory.now(), next);
      memory.settle();
      bytes += next.bytes;
    }
  };
  // From refresh to refresh, so that the share of refreshed time is whole; after as long as refreshes may be put off.
  run_until(device_.times.REFI * (config_.refresh_postpone + config_.refresh_pull_in + 2) - device_.times.REFI / 2);
  const cycles begin = memory.now();
  const auto before = counters(memory.figures(begin), pattern.precision);
  bytes = 0;
  run_until(begin + measured_intervals * device_.times.REFI);
  const cycles end = memory.now();
  const auto after = counters(memory.figures(end), pattern.precision);

  rate r;
  const auto per_byte = [&](auto amount) { return static_cast<double>(amount) / static_cast<double>(bytes); };
  r.clocks_per_byte = per_byte(end - begin);
  for (std::size_t i = 0; i < after.size(); ++i) r.per_byte.push_back(per_byte(after[i] - before[i]));
  r.carried.resize(r.per_byte.size());
  return r;
}

stream_rates::rate stream_rates::measure_copied(const access_pattern& written) {
  rate copy = measure(written, true);
  const rate& read = rate_of({});
  copy.clocks_per_byte = std::max(0.0, copy.clocks_per_byte - read.clocks_per_byte);
  for (std::size_t i = 0; i < copy.per_byte.size(); ++i) {
    copy.per_byte[i] = std::max(0.0, copy.per_byte[i] - read.per_byte[i]);
  }
  return copy;
}

stream_rates::rate& stream_rates::rate_of(const access_pattern& pattern) {
  if (last_ != nullptr && last_pattern_ == pattern) return *last_;
  auto found = rates_.find(pattern);
  if (found == rates_.end()) {
    const bool copied = pattern.write && pattern.bytes == 0;
    found = rates_.emplace(pattern, copied ? measure_copied(pattern) : measure(pattern)).first;
  }
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

stream_rates::step stream_rates::serve(std::uint64_t bytes, const access_pattern& pattern) {
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
