#include "tlm/platform/dram/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>

#include "tlm/lpddr5/engine/memory_system.h"
#include "tlm/lpddr5/traffic/generators.h"
#include "tlm/lpddr5/traffic/traffic_player.h"

namespace dvp::platform {

using namespace lpddr5;

namespace {

constexpr const char* arithmetic = "arithmetic";
constexpr const char* measured = "Ramulator 2.1";

// Reads of one burst at places that a function names.
class placed_reads : public traffic_source {
 public:
  placed_reads(std::uint64_t count, std::uint64_t bytes, std::function<std::uint64_t(std::uint64_t)> address)
      : count_(count), bytes_(bytes), address_(std::move(address)) {}
  bool next(traffic_request& request) override {
    if (made_ == count_) return false;
    request = {.address = address_(made_++), .bytes = bytes_};
    return true;
  }

 private:
  std::uint64_t count_, bytes_, made_ = 0;
  std::function<std::uint64_t(std::uint64_t)> address_;
};

// One case: the device, policies and mapping to change, then something to measure.
struct bench {
  memory_config c;
  std::string order = "row-bank-column-group-channel";

  explicit bench(const memory_config& memory, refresh_policy refresh = refresh_policy::none) : c(memory) {
    c.controller = controller_config{};
    c.controller.refresh = refresh;
    c.channels = 1;
  }

  address_mapping mapping() const {
    return {standard_mapping(order, c.dev.shape, c.channels, c.dev.shape.burst_bytes(), false), c.dev.shape,
            c.channels};
  }
  double seconds(cycles n) const { return static_cast<double>(n) * static_cast<double>(c.dev.times.tCK_fs) * 1e-15; }

  // Bytes, or elements of tagged reads, per nanosecond.
  double rate(std::unique_ptr<traffic_source> source, std::uint64_t outstanding = 0) const {
    const address_mapping map = mapping();
    const rule_table rules = compile(c.rules, c.dev.times);
    traffic_player player;
    player.add(std::move(source), {.outstanding = outstanding, .requests = 0});
    memory_system memory(c.dev, rules, c.controller, map, player, nullptr);
    const cycles end = player.play(memory);
    const system_figures& f = memory.figures(end);
    std::uint64_t elements = 0;
    for (const auto& p : f.by_precision) elements += p.elements;
    return static_cast<double>(std::max(elements, f.read_bytes)) / seconds(end) * 1e-9;
  }

  double pattern_rate(pattern what, std::uint64_t requests, std::uint64_t outstanding = 0,
                      std::uint64_t request_bytes = 32) const {
    generator_options g;
    g.what = what;
    g.requests = requests;
    g.request_bytes = request_bytes;
    g.range_bytes = mapping().bytes();
    return rate(make_generator(g), outstanding);
  }

  double placed_rate(std::uint64_t requests, const std::function<location(std::uint64_t)>& place,
                     std::uint64_t outstanding = 0) const {
    const address_mapping map = mapping();
    return rate(std::make_unique<placed_reads>(requests, c.dev.shape.burst_bytes(),
                                               [&](std::uint64_t i) { return map.encode(place(i)); }),
                outstanding);
  }

  // Elements per nanosecond of reads at one precision. A burst holds columns of one row: they must follow each other.
  double element_rate(std::uint8_t precision, std::uint32_t core_feed) {
    order = "row-bank-column-channel";
    c.controller.tagged.core_feed = core_feed;
    generator_options g;
    g.what = pattern::mixed;
    g.requests = 50'000;
    g.request_bytes = 1024;
    g.run_elements = UINT64_MAX;
    g.range_bytes = mapping().bytes();
    g.share_q8 = precision == 8 ? 1 : 0;
    g.share_q4 = precision == 4 ? 1 : 0;
    g.share_q2 = precision == 2 ? 1 : 0;
    g.share_q0 = 0;
    return rate(make_generator(g));
  }
};

// Times of reads that come one by one to an idle memory.
class single_reads : public access_sink, public command_sink {
 public:
  explicit single_reads(const bench& b)
      : bench_(b),
        mapping_(b.mapping()),
        rules_(compile(b.c.rules, b.c.dev.times)),
        memory_(b.c.dev, rules_, b.c.controller, mapping_, *this, this) {}

  // Nanoseconds from the first command of the read to its first data.
  double first_data(std::uint32_t row, std::uint32_t burst) {
    const location place{.row = row, .column = burst * bench_.c.dev.shape.burst_length};
    first_ = -1;
    memory_.submit(memory_.now() + 1000,
                   {.address = mapping_.encode(place), .bytes = bench_.c.dev.shape.burst_bytes()});
    memory_.drain();
    return bench_.seconds(finished_ - bench_.c.dev.times.BL_n_min - first_) * 1e9;
  }

  void accepted(std::uint64_t, cycles) override {}
  void finished(std::uint64_t, cycles at) override { finished_ = at; }
  void issued(std::uint32_t, const issued_command& c) override {
    if (first_ < 0) first_ = c.at;
  }

 private:
  const bench& bench_;
  address_mapping mapping_;
  rule_table rules_;
  cycles first_ = -1, finished_ = 0;
  memory_system memory_;
};

class table {
 public:
  explicit table(const memory_config& memory) : memory_(memory) {}

  void add(std::string what, const char* unit, double ours, double expected, double tolerance, const char* basis,
           bool at_most = false) {
    rows_.push_back({std::move(what), unit, ours, expected, tolerance, at_most, basis});
  }

  void latencies() {
    const bench b(memory_);
    single_reads reads(b);
    const double closed = reads.first_data(7, 0), hit = reads.first_data(7, 1), conflict = reads.first_data(8, 0);
    add("read of an open row: command to data", "ns", hit, 21.25, 0, arithmetic);
    add("read of a closed bank", "ns", closed, 40.0, 0, arithmetic);
    add("read with another row open", "ns", conflict, 58.75, 0, arithmetic);
  }

  void streams() {
    constexpr std::uint64_t many = 400'000;
    add("stream over bank groups, no refresh", "GB/s", bench(memory_).pattern_rate(pattern::stream, many), 12.80, 0.002,
        arithmetic);
    for (const auto& [gbit, expected] : {std::pair{8, 11.956}, {16, 11.73}, {32, 11.40}}) {
      bench b(memory_, refresh_policy::all_bank);
      const double ns = gbit == 8 ? 210 : gbit == 16 ? 280 : 380;
      b.c.dev.times.RFCab = static_cast<cycles>(std::ceil(ns / 1.25));
      const std::string what = "same, all-bank refresh, " + std::to_string(gbit) + " Gb";
      add(what, "GB/s", b.pattern_rate(pattern::stream, many), expected, 0.003,
          gbit == 8 ? "arithmetic, Ramulator 2.1" : arithmetic);
    }
    bench b(memory_);
    add("stream in one bank group, no refresh", "GB/s",
        b.placed_rate(many / 4,
                      [](std::uint64_t i) {
                        return location{.bank = static_cast<std::uint32_t>(i / 64 % 4),
                                        .row = static_cast<std::uint32_t>(i / 256),
                                        .column = static_cast<std::uint32_t>(i % 64 * 16)};
                      }),
        6.4, 0.002, arithmetic);
    b.c.controller.page = page_policy::closed;
    add("a row for every 32 B, tFAW bound", "GB/s",
        b.placed_rate(many / 4,
                      [](std::uint64_t i) {
                        return location{.bank_group = static_cast<std::uint32_t>(i % 4),
                                        .bank = static_cast<std::uint32_t>(i / 4 % 4),
                                        .row = static_cast<std::uint32_t>(i / 16)};
                      }),
        6.4, 0.01, arithmetic);
    // 32 B / 61.25 ns is 0.52245; the last of the reads ends before its tRC does.
    const bench conflicts(memory_);
    add("conflicts in one bank, one outstanding", "GB/s",
        conflicts.placed_rate(
            20'000, [](std::uint64_t i) { return location{.row = static_cast<std::uint32_t>(i)}; }, 1),
        0.5225, 0.05, "32 B / tRC", true);
  }

  void against_ramulator() {
    constexpr std::uint64_t many = 1'000'000;
    const char* const order = "row-bank-column-channel";
    const auto with = [&](refresh_policy refresh) {
      bench b(memory_, refresh);
      b.order = order;
      return b;
    };
    const bench refreshed = with(refresh_policy::all_bank), plain = with(refresh_policy::none);
    add("1 M sequential reads, row-bank-column", "GB/s", refreshed.pattern_rate(pattern::stream, many), 10.323, 0.05,
        measured);
    add("1 M random reads", "GB/s", refreshed.pattern_rate(pattern::random, many), 5.698, 0.05, measured);
    add("random, 64 outstanding, no refresh", "GB/s", plain.pattern_rate(pattern::random, many / 2, 64), 6.11, 0.05,
        measured);
    add("random, 64 outstanding, all-bank refresh", "GB/s", refreshed.pattern_rate(pattern::random, many / 2, 64), 5.71,
        0.05, measured);
  }

  void wide() {
    for (const auto& [channels, expected] : {std::pair{4U, 51.2}, {8U, 102.4}, {16U, 204.8}, {32U, 409.6}}) {
      bench b(memory_);
      b.c.channels = channels;
      add("stream over " + std::to_string(16 * channels) + " DQ, no refresh", "GB/s",
          b.pattern_rate(pattern::stream, 20'000 * channels), expected, 0.005, arithmetic);
    }
  }

  void precisions() {
    bench b(memory_);
    add("q4 elements, core feed 1", "G/s", b.element_rate(4, 1), 12.8, 0.01, arithmetic);
    add("q4 elements, core feed 2", "G/s", b.element_rate(4, 2), 25.6, 0.01, arithmetic);
    add("q2 elements, core feed 2", "G/s", b.element_rate(2, 2), 25.6, 0.01, arithmetic);
    add("q2 elements, core feed 4", "G/s", b.element_rate(2, 4), 51.2, 0.01, arithmetic);
  }

  void stream_mode() {
    for (const auto refresh : {refresh_policy::none, refresh_policy::all_bank, refresh_policy::per_bank}) {
      bench b(memory_, refresh);
      const double by_cycle = b.pattern_rate(pattern::stream, 5000, 0, 4096);
      b.c.controller.stream_bytes = 4096;
      const char* name = refresh == refresh_policy::none       ? "no"
                         : refresh == refresh_policy::all_bank ? "all-bank"
                                                               : "per-bank";
      add(std::string("stream mode, 4 KiB reads, ") + name + " refresh", "GB/s",
          b.pattern_rate(pattern::stream, 5000, 0, 4096), by_cycle, 0.02, "cycle mode");
    }
  }

  std::vector<golden_row> rows() { return std::move(rows_); }

 private:
  const memory_config& memory_;
  std::vector<golden_row> rows_;
};

}  // namespace

bool golden_row::ok() const {
  const double off = difference();
  constexpr double rounding = 1e-6;
  if (at_most) return off <= 0 && off >= -tolerance;
  return std::abs(off) <= tolerance + rounding;
}

std::vector<golden_row> run_golden(const memory_config& memory) {
  table t(memory);
  t.latencies();
  t.streams();
  t.against_ramulator();
  t.wide();
  t.precisions();
  t.stream_mode();
  return t.rows();
}

std::string golden_table(const std::vector<golden_row>& rows) {
  std::string text =
      "  case                                               ours    expected         difference    allowed  basis\n";
  for (const auto& r : rows) {
    char line[256];
    std::snprintf(line, sizeof line, "  %-42s %11.5f %s%10.5f %-4s %+9.2f %% %s%7.2f %%  %s%s\n", r.what.c_str(),
                  r.ours, r.at_most ? "<" : " ", r.expected, r.unit.c_str(), 100 * r.difference(),
                  r.at_most ? " -" : "+-", 100 * r.tolerance, r.basis.c_str(), r.ok() ? "" : "   NOT OK");
    text += line;
  }
  return text;
}

std::string golden_count(const std::vector<golden_row>& rows) {
  const auto wrong =
      static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const golden_row& r) { return !r.ok(); }));
  return "  " + std::to_string(rows.size() - wrong) + " of " + std::to_string(rows.size()) +
         " as expected (LPDDR5-6400 x16, BG mode, 8 Gb, 32-byte requests)\n";
}

nlohmann::ordered_json golden_json(const std::vector<golden_row>& rows) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& r : rows) {
    list.push_back({{"case", r.what},
                    {"ours", r.ours},
                    {"expected", r.expected},
                    {"unit", r.unit},
                    {"tolerance", r.tolerance},
                    {"at_most", r.at_most},
                    {"basis", r.basis},
                    {"ok", r.ok()}});
  }
  return list;
}

}  // namespace dvp::platform
