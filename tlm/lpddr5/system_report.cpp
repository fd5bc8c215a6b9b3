#include "tlm/lpddr5/system_report.h"

#include <cctype>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include "tlm/lpddr5/engine/memory_system.h"

namespace dvp::lpddr5 {

namespace {

class reporter {
 public:
  reporter(core::statistics& out, const std::string& owner, const device& d) : out_(out), owner_(owner), device_(d) {}

  void count(const std::string& name, std::uint64_t value) { out_.set(owner_ + '.' + name, value); }
  void clocks(const std::string& name, std::uint64_t n) {
    count(name, static_cast<std::uint64_t>(to_ps(static_cast<cycles>(n), device_.times.tCK_fs)));
  }
  void picojoules(const std::string& name, double joules) {
    out_.set_gauge(owner_ + ".energy." + name + "_pj_modelled", joules * 1e12);
  }
  void latency(const std::string& name, const latency_histogram& of) {
    count("latency." + name + "_count", of.count());
    clocks("latency." + name + "_total_ps",
           static_cast<std::uint64_t>(std::llround(of.mean() * static_cast<double>(of.count()))));
  }

 private:
  core::statistics& out_;
  const std::string& owner_;
  const device& device_;
};

template <class Member>
std::uint64_t sum(const system_figures& figures, Member member) {
  std::uint64_t total = 0;
  for (const auto& channel : figures.channels) total += std::invoke(member, channel);
  return total;
}

std::string lower(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

void report(const system_figures& figures, const device& d, core::statistics& out, const std::string& owner) {
  reporter to(out, owner, d);
  using per_channel = channel_figures;
  to.clocks("elapsed_ps", static_cast<std::uint64_t>(figures.now));
  to.clocks("busy_ps", sum(figures, &per_channel::busy_cycles));
  for (std::size_t cause = 0; cause < idle_cause_count; ++cause) {
    to.clocks(std::string("idle.") + name_of(static_cast<idle_cause>(cause)) + "_ps",
              sum(figures, [cause](const per_channel& c) { return c.idle_cycles[cause]; }));
  }
  to.clocks("states.active_ps", sum(figures, &per_channel::active_cycles));
  to.clocks("states.precharged_ps", sum(figures, &per_channel::precharged_cycles));
  to.clocks("states.active_power_down_ps", sum(figures, &per_channel::active_pd_cycles));
  to.clocks("states.precharge_power_down_ps", sum(figures, &per_channel::precharge_pd_cycles));
  to.clocks("states.self_refresh_ps", sum(figures, &per_channel::self_refresh_cycles));
  to.count("rows.hits", sum(figures, &per_channel::row_hits));
  to.count("rows.misses", sum(figures, &per_channel::row_misses));
  to.count("rows.conflicts", sum(figures, &per_channel::row_conflicts));
  for (std::size_t c = 0; c < command_count; ++c) {
    to.count("commands." + lower(command_names[c]), sum(figures, [c](const per_channel& f) { return f.commands[c]; }));
  }
  to.count("bursts.read", sum(figures, &per_channel::read_bursts));
  to.count("bursts.write", sum(figures, &per_channel::write_bursts));
  to.count("column_accesses", sum(figures, &per_channel::column_accesses));
  to.count("forwarded_reads", sum(figures, &per_channel::forwarded_reads));
  to.count("coalesced_writes", sum(figures, &per_channel::coalesced_writes));
  to.count("wck_starts", sum(figures, &per_channel::wck_starts));
  to.latency("read", figures.read_latency);
  to.latency("write", figures.write_latency);

  std::uint64_t io_bound = 0, core_bound = 0;
  for (const auto& [bits, name] : {std::pair{8, "q8"}, {4, "q4"}, {2, "q2"}, {0, "q0"}}) {
    const precision_figures& p = figures.by_precision[static_cast<std::size_t>(bits)];
    const std::string prefix = std::string("precision.") + name + '.';
    to.count(prefix + "reads", p.reads);
    to.count(prefix + "elements", p.elements);
    to.count(prefix + "delivered_bits", p.delivered_bits);
    to.count(prefix + "padding_bits", p.padding_bits);
    to.count(prefix + "scale_bits", p.scale_bits);
    to.count(prefix + "core_bits", p.core_bits);
    io_bound += p.io_bound;
    core_bound += p.core_bound;
  }
  to.count("bound.io_bursts", io_bound);
  to.count("bound.core_bursts", core_bound);
  to.count("stream.accesses", figures.streamed_accesses);
  to.count("stream.bytes", figures.streamed_bytes);

  const energy_figures energy = energy_of(figures, d);
  to.picojoules("activate", energy.activate_j);
  to.picojoules("refresh", energy.refresh_j);
  to.picojoules("background", energy.background_j);
  to.picojoules("core", energy.core_read_j + energy.core_write_j);
  to.picojoules("down", energy.down_read_j + energy.down_write_j);
  to.picojoules("convert", energy.convert_j);
  to.picojoules("total", energy.total_j());
}

}  // namespace dvp::lpddr5
