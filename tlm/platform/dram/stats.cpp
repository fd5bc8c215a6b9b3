#include "tlm/platform/dram/stats.h"

#include <cstdio>

#include "tlm/platform/version.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;
using namespace lpddr5;

double nanoseconds(cycles n, const dram_result& r) {
  return static_cast<double>(to_ps(n, r.memory.dev.times.tCK_fs)) * 1e-3;
}

ordered_json latency(const latency_histogram& h, const dram_result& r) {
  ordered_json json;
  json["count"] = h.count();
  if (h.count() == 0) return json;
  json["mean"] = h.mean() * static_cast<double>(r.memory.dev.times.tCK_fs) * 1e-6;
  json["min"] = nanoseconds(h.min(), r);
  json["p50"] = nanoseconds(h.percentile(50), r);
  json["p95"] = nanoseconds(h.percentile(95), r);
  json["p99"] = nanoseconds(h.percentile(99), r);
  json["max"] = nanoseconds(h.max(), r);
  return json;
}

ordered_json commands_of(const std::array<std::uint64_t, command_count>& counts) {
  ordered_json json = ordered_json::object();
  for (std::size_t i = 0; i < command_count; ++i) {
    if (counts[i] != 0) json[std::string(command_names[i])] = counts[i];
  }
  return json;
}

ordered_json energy(const dram_result& r) {
  const auto& e = r.energy;
  const double bits = 8.0 * static_cast<double>(r.figures.read_bytes + r.figures.write_bytes);
  ordered_json json;
  json["kind"] = "modelled";
  json["basis"] = r.memory.dev.energy.basis;
  json["total_j"] = e.total_j();
  json["pj_per_bit"] = bits == 0 ? 0 : e.total_j() * 1e12 / bits;
  json["parts_j"] = {{"activate", e.activate_j},     {"refresh", e.refresh_j},       {"background", e.background_j},
                     {"core_read", e.core_read_j},   {"core_write", e.core_write_j}, {"down_read", e.down_read_j},
                     {"down_write", e.down_write_j}, {"convert", e.convert_j}};
  return json;
}

ordered_json precisions(const system_figures& figures) {
  ordered_json list = ordered_json::array();
  for (const std::size_t bits : {8u, 4u, 2u, 0u}) {
    const precision_figures& p = figures.by_precision[bits];
    if (p.reads == 0) continue;
    list.push_back({{"bits", bits},
                    {"reads", p.reads},
                    {"elements", p.elements},
                    {"delivered_bits", p.delivered_bits},
                    {"padding_bits", p.padding_bits},
                    {"scale_bits", p.scale_bits},
                    {"core_bits", p.core_bits},
                    {"io_bound_bursts", p.io_bound},
                    {"core_bound_bursts", p.core_bound}});
  }
  return list;
}

ordered_json channel_json(const channel_figures& c) {
  ordered_json json;
  json["commands"] = commands_of(c.commands);
  json["read_bursts"] = c.read_bursts;
  json["write_bursts"] = c.write_bursts;
  json["rows"] = {{"hits", c.row_hits}, {"misses", c.row_misses}, {"conflicts", c.row_conflicts}};
  json["column_accesses"] = c.column_accesses;
  json["busy_clocks"] = c.busy_cycles;
  ordered_json idle;
  for (std::size_t i = 0; i < idle_cause_count; ++i) idle[name_of(static_cast<idle_cause>(i))] = c.idle_cycles[i];
  json["idle_clocks"] = idle;
  json["forwarded_reads"] = c.forwarded_reads;
  json["coalesced_writes"] = c.coalesced_writes;
  json["wck_starts"] = c.wck_starts;
  json["refresh"] = {{"most_owed", c.refresh_debt_max}, {"most_ahead", c.refresh_lead_max}};
  json["queue"] = {{"entry_clocks", c.queue_entry_cycles}, {"most", c.queue_max}};
  json["rank_clocks"] = {{"active", c.active_cycles},
                         {"precharged", c.precharged_cycles},
                         {"active_power_down", c.active_pd_cycles},
                         {"precharge_power_down", c.precharge_pd_cycles},
                         {"self_refresh", c.self_refresh_cycles}};
  ordered_json banks = ordered_json::array();
  for (const auto& bank : c.bank_commands) banks.push_back(commands_of(bank));
  json["banks"] = std::move(banks);
  return json;
}

}  // namespace

ordered_json make_dram_stats(const dram_result& r) {
  ordered_json stats;
  stats["schema"] = "dllm-vp.dram.1";
  stats["version"] = version;
  stats["configuration"] = r.memory.source;
  stats["device"] = {{"id", r.memory.dev.id},
                     {"standard", r.memory.dev.standard},
                     {"channels", r.memory.channels},
                     {"tCK_fs", r.memory.dev.times.tCK_fs},
                     {"provenance", r.memory.dev.provenance}};
  stats["notes"] = r.memory.notes;
  stats["traffic"] = {{"what", r.traffic}, {"requests", r.requests}, {"outstanding", r.outstanding}};
  if (r.seed) stats["traffic"]["seed"] = *r.seed;
  stats["simulated"] = {{"clocks", r.end}, {"ps", to_ps(r.end, r.memory.dev.times.tCK_fs)}};

  const double seconds = r.seconds();
  const auto rate = [&](std::uint64_t bytes) { return seconds == 0 ? 0 : static_cast<double>(bytes) / seconds; };
  const double peak = r.peak_bytes_per_second();
  stats["bandwidth"] = {{"bytes_per_second", r.bytes_per_second()},
                        {"read_bytes_per_second", rate(r.figures.read_bytes)},
                        {"write_bytes_per_second", rate(r.figures.write_bytes)},
                        {"peak_bytes_per_second", peak},
                        {"share_of_peak", r.bytes_per_second() / peak}};
  stats["data_bus"]["busy"] = r.busy_share();
  const auto idle = r.idle_shares();
  for (std::size_t i = 0; i < idle.size(); ++i) {
    stats["data_bus"]["idle"][name_of(static_cast<idle_cause>(i))] = idle[i];
  }
  stats["latency_ns"] = {{"read", latency(r.figures.read_latency, r)}, {"write", latency(r.figures.write_latency, r)}};
  stats["accesses"] = {{"reads", r.figures.reads},
                       {"writes", r.figures.writes},
                       {"read_bytes", r.figures.read_bytes},
                       {"write_bytes", r.figures.write_bytes},
                       {"streamed_accesses", r.figures.streamed_accesses},
                       {"streamed_bytes", r.figures.streamed_bytes}};
  stats["energy"] = energy(r);
  stats["precision"] = precisions(r.figures);
  if (r.check) {
    stats["checker"] = {
        {"commands", r.check->commands}, {"violations", r.check->violations}, {"first_violations", r.check->sentences}};
  } else {
    stats["checker"] = nullptr;
  }
  stats["channels"] = ordered_json::array();
  for (const auto& c : r.figures.channels) stats["channels"].push_back(channel_json(c));
  return stats;
}

std::string make_latency_csv(const dram_result& r) {
  std::string text = "direction,from_clocks,to_clocks,from_ns,to_ns,count\n";
  const auto add = [&](const char* direction, const latency_histogram& h) {
    for (const auto& b : h.buckets()) {
      char line[160];
      std::snprintf(line, sizeof line, "%s,%lld,%lld,%.3f,%.3f,%llu\n", direction, static_cast<long long>(b.from),
                    static_cast<long long>(b.to), nanoseconds(b.from, r), nanoseconds(b.to, r),
                    static_cast<unsigned long long>(b.count));
      text += line;
    }
  };
  add("read", r.figures.read_latency);
  add("write", r.figures.write_latency);
  return text;
}

}  // namespace dvp::platform
