#include "tlm/platform/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "dvp_gen/descriptor.h"
#include "dvp_gen/npu_regs.h"
#include "dvp_gen/system.h"
#include "tlm/platform/answer_trouble.h"
#include "tlm/platform/compression_report.h"
#include "tlm/platform/energy.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/phases.h"
#include "tlm/platform/shape/trajectory_file.h"
#include "tlm/platform/version.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

std::string hexadecimal(std::uint64_t value) {
  char text[19];
  std::snprintf(text, sizeof(text), "0x%016llx", static_cast<unsigned long long>(value));
  return text;
}

// Bytes by purpose over all precisions, from the memory seat's traffic figures.
ordered_json bytes_by_purpose(const ordered_json& figures, const char* direction) {
  ordered_json result = ordered_json::object();
  const std::string path = std::string("memory.traffic.") + direction;
  const std::uint8_t last = static_cast<std::uint8_t>(gen::purpose::corrections);
  for (std::uint8_t purpose = 0; purpose <= last; ++purpose) {
    const char* name = gen::name_of(static_cast<gen::purpose>(purpose));
    std::uint64_t bytes = 0;
    for (std::uint8_t precision = 0; precision <= static_cast<std::uint8_t>(gen::precision::raw); ++precision) {
      bytes +=
          count_at(figures, path + "." + name + "." + gen::name_of(static_cast<gen::precision>(precision)) + "_bytes");
    }
    if (bytes != 0) result[name] = bytes;
  }
  return result;
}

// Bytes of reads by precision over all purposes, as delivered.
ordered_json bytes_by_precision(const ordered_json& figures) {
  ordered_json result = ordered_json::object();
  for (std::uint8_t precision = 0; precision <= static_cast<std::uint8_t>(gen::precision::raw); ++precision) {
    const std::string name = gen::name_of(static_cast<gen::precision>(precision));
    std::uint64_t bytes = 0;
    for (std::uint8_t purpose = 0; purpose <= static_cast<std::uint8_t>(gen::purpose::corrections); ++purpose) {
      bytes += count_at(figures, std::string("memory.traffic.read.") +
                                     gen::name_of(static_cast<gen::purpose>(purpose)) + "." + name + "_bytes");
    }
    if (bytes != 0) result[name] = bytes;
  }
  return result;
}

// Bytes across the interface of an LPDDR5 memory that carried nothing asked for, by precision of the read.
ordered_json padding_by_precision(const ordered_json& figures) {
  ordered_json result = ordered_json::object();
  for (const char* name : {"q8", "q4", "q2"}) {
    const std::uint64_t bits = count_at(figures, std::string("memory.precision.") + name + ".padding_bits");
    if (bits != 0) result[name] = bits / 8;
  }
  return result;
}

// Where the time of an LPDDR5 memory went: shares of channels times duration.
ordered_json lpddr5_shares(const platform_config& config, const ordered_json& figures) {
  const double time = value_at(figures, "memory.elapsed_ps") * config.memory.lpddr5->channels;
  const auto share = [&](const char* figure) {
    return ratio(value_at(figures, std::string("memory.") + figure), time);
  };
  ordered_json json;
  json["bus_busy"] = share("busy_ps");
  json["padding_bytes"] = padding_by_precision(figures);
  json["idle"] = {{"no_request", share("idle.no_request_ps")},   {"row", share("idle.row_ps")},
                  {"refresh", share("idle.refresh_ps")},         {"bank_group", share("idle.bank_group_ps")},
                  {"turnaround", share("idle.turnaround_ps")},   {"core", share("idle.core_ps")},
                  {"command_bus", share("idle.command_bus_ps")}, {"power_down", share("idle.power_down_ps")}};
  const double bursts = value_at(figures, "memory.bursts.read") + value_at(figures, "memory.bursts.write");
  json["row_hits"] = ratio(value_at(figures, "memory.rows.hits"), bursts);
  return json;
}

// Share of the time in which a hart worked.
double busy_share(const ordered_json& hart, double duration_ps) {
  return ratio(busy_ps(hart, duration_ps), duration_ps);
}

// That of the busiest hart.
double cpu_share(const ordered_json& figures, double duration_ps) {
  double most = 0;
  for (const auto& item : figures.items()) {
    if (!item.key().starts_with("cpu")) continue;
    most = std::max(most, busy_share(item.value(), duration_ps));
  }
  return most;
}

// What held the run back: the part that was in use, or in the way, for the largest share of the time.
ordered_json bound_of(const ordered_json& costs, double cpu, double mapping) {
  ordered_json shares;
  shares["array"] = costs["array"]["busy"];
  shares["stage"] = ratio(costs["busy_cycles"]["stage"].get<double>(), costs["npu_cycles"].get<double>());
  shares["cpu"] = cpu;
  shares["mapping"] = mapping;
  const auto& dram = costs["dram"];
  if (dram.contains("lpddr5")) {
    const auto& idle = dram["lpddr5"]["idle"];
    shares["memory_io"] = dram["lpddr5"]["bus_busy"];
    shares["memory_core"] = idle["core"];
    shares["memory_rows"] = idle["row"].get<double>() + idle["bank_group"].get<double>();
    shares["memory_refresh"] = idle["refresh"];
    shares["memory_commands"] = idle["turnaround"].get<double>() + idle["command_bus"].get<double>();
  } else {
    shares["memory_io"] = ratio(dram["bytes_per_second"].get<double>(), dram["peak_bytes_per_second"].get<double>());
  }
  std::string most = "none";
  double largest = 0.5;
  for (const auto& item : shares.items()) {
    if (item.value().get<double>() < largest) continue;
    largest = item.value();
    most = item.key();
  }
  return {{"held", most}, {"shares", std::move(shares)}};
}

// The costs of one request, or of all of them together: everything follows from counters.
ordered_json costs(const platform_config& config, const ordered_json& figures, std::uint64_t duration_ps,
                   std::uint64_t generated, std::uint64_t forwards, std::uint64_t denoise_forwards,
                   std::uint64_t committed, double mapping_us) {
  const auto npu = [&](gen::npu::counter which) {
    return count_at(figures, std::string("npu.counters.") + gen::npu::name_of(which));
  };
  using counter = gen::npu::counter;
  const double seconds = static_cast<double>(duration_ps) * 1e-12;
  const auto cycles = static_cast<double>(npu(counter::cycles));
  const double peak_macs = cycles * config.npu.array.rows * config.npu.array.columns;
  const auto read = static_cast<double>(count_at(figures, "memory.bytes_read"));
  const auto written = static_cast<double>(count_at(figures, "memory.bytes_written"));

  ordered_json json;
  json["latency_us"] = static_cast<double>(duration_ps) * 1e-6;
  json["tokens_per_second"] = ratio(static_cast<double>(generated), seconds);
  json["forwards"] = forwards;
  json["tokens_per_forward"] = ratio(static_cast<double>(committed), static_cast<double>(denoise_forwards));
  json["array"] = {{"utilisation", ratio(static_cast<double>(npu(counter::macs)), peak_macs)},
                   {"busy", ratio(static_cast<double>(npu(counter::array_busy)), cycles)},
                   {"macs", npu(counter::macs)}};
  json["stall_cycles"] = {{"dependency", npu(counter::stall_dependency)},
                          {"scratchpad", npu(counter::stall_scratchpad)},
                          {"no_work", npu(counter::stall_empty)}};
  json["npu_cycles"] = npu(counter::cycles);
  json["busy_cycles"] = {
      {"array", npu(counter::array_busy)},         {"vector", npu(counter::vector_busy)},
      {"sampling", npu(counter::sampling_busy)},   {"dma_load", npu(counter::dma_load_busy)},
      {"dma_store", npu(counter::dma_store_busy)}, {"stage", count_at(figures, "npu.engines.stage.busy_cycles")}};
  json["dram"] = {{"bytes_read", bytes_by_purpose(figures, "read")},
                  {"bytes_read_by_precision", bytes_by_precision(figures)},
                  {"bytes_written", bytes_by_purpose(figures, "write")},
                  {"bytes_per_second", ratio(read + written, seconds)},
                  {"peak_bytes_per_second", config.memory.peak_bytes_per_second}};
  if (config.memory.lpddr5) json["dram"]["lpddr5"] = lpddr5_shares(config, figures);
  json["bound"] = bound_of(json, cpu_share(figures, static_cast<double>(duration_ps)),
                           ratio(mapping_us, json["latency_us"].get<double>()));
  json["energy"] = energy_of(config, figures, duration_ps);
  return json;
}

void write_lpddr5(std::ostream& out, const ordered_json& shares) {
  const auto percent = [&](const ordered_json& share) { return 100 * share.get<double>(); };
  const auto& idle = shares["idle"];
  out << "              row hits " << std::setprecision(1) << percent(shares["row_hits"]) << " %, data buses busy "
      << percent(shares["bus_busy"]) << " %, idle for want of requests " << percent(idle["no_request"]) << " %, rows "
      << percent(idle["row"]) << " %, refresh " << percent(idle["refresh"]) << " %\n";
}

std::string bound_text(const ordered_json& bound) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1);
  const std::string held = bound["held"];
  text << (held == "none" ? "nothing alone: latencies and dependencies" : held);
  const char* separator = "   (";
  for (const auto& item : bound["shares"].items()) {
    if (item.value().get<double>() < 0.0005) continue;
    text << separator << item.key() << ' ' << 100 * item.value().get<double>() << " %";
    separator = ", ";
  }
  if (separator[0] == ',') text << " of the time)";
  return text.str();
}

// "1 forward", "2 forwards".
std::string counted(const ordered_json& number, const std::string& what) {
  return number.dump() + ' ' + what + (number == 1 ? "" : "s");
}

// The RV64 seat with direct memory tells the DRAM nothing of what its harts read and write.
bool hides_cpu_accesses(const ordered_json& stats) {
  const auto& config = stats["configuration"];
  return stats["cpu_seat"] == name_of(cpu_choice::rv64) && config["decode"]["engine"] == "cpu" &&
         config["cpu"]["rv64"]["direct_memory"] == true;
}

void write_energy(std::ostream& out, const ordered_json& energy) {
  const auto microjoules = [](const ordered_json& picojoules) { return picojoules.get<double>() * 1e-6; };
  const auto parts = [&](const ordered_json& of) {
    for (const auto& item : of["parts"].items()) out << ' ' << item.key() << ' ' << microjoules(item.value());
    out << ")\n";
  };
  const auto& system = energy["system_pj"];
  out << "  energy      " << std::setprecision(2) << microjoules(system["value"]) << " uJ in all (modelled:";
  parts(system);
  out << "              " << microjoules(energy["dram_movement_pj"]["value"]) << " uJ DRAM movement";
  if (!energy.contains("dram_total_pj")) {
    out << " (8 e_core + p e_down per element)\n";
    return;
  }
  const auto& dram = energy["dram_total_pj"];
  out << " of " << microjoules(dram["value"]) << " uJ DRAM (";
  std::string separator;
  for (const auto& item : dram["parts"].items()) {
    out << separator << item.key() << ' ' << microjoules(item.value());
    separator = " ";
  }
  out << ")\n";
}

// Else counters, which are of all, make no shares of the time, which is that of the answers.
bool all_answered(const ordered_json& total) {
  return total["answered"] == total["prompts"];
}

void write_cpu(std::ostream& out, const ordered_json& stats) {
  const auto& rv64 = stats["configuration"]["cpu"]["rv64"];
  const auto& counters = stats["total"]["counters"];
  double instructions = 0, asleep_ps = 0;
  const std::uint32_t harts = rv64["harts"];
  for (std::uint32_t h = 0; h < harts; ++h) {
    const auto& cpu = counters["cpu" + std::to_string(h)];
    instructions += cpu["instructions"].get<double>();
    asleep_ps += cpu["sleep_ps"].get<double>();
  }
  const double time_ps = stats["total"]["latency_us"].get<double>() * 1e6 * harts;
  out << "  cpu         rv64, " << harts << (harts == 1 ? " hart" : " harts") << ", core "
      << rv64["core"]["name"].get<std::string>() << std::setprecision(1) << ": " << instructions * 1e-6
      << " M instructions";
  if (all_answered(stats["total"])) out << ", asleep " << 100 * ratio(asleep_ps, time_ps) << " % of the time";
  out << '\n';
}

std::string grouped_bytes(double bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= 1000 && unit + 1 < std::size(units)) {
    bytes /= 1000;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 1) << bytes << ' ' << units[unit];
  return text.str();
}

double microseconds(std::uint64_t ns) {
  return static_cast<double>(ns) * 1e-3;
}

// What the decode did beside committing tokens: all of it can be added up over requests.
ordered_json events_of(const gen::result_record& r) {
  ordered_json json;
  json["drafts"] = {{"offered", r.drafts_offered}, {"accepted", r.drafts_accepted}, {"rejected", r.drafts_rejected}};
  json["edits"] = r.edits;
  json["revisions"] = {{"made_visible", r.made_visible},
                       {"made_stable", r.made_stable},
                       {"picked", r.revisions_picked},
                       {"applied", r.revisions_applied},
                       {"replaced", r.revisions_replaced},
                       {"dropped", r.revisions_dropped},
                       {"rows", r.revision_rows},
                       {"steps", r.revision_steps},
                       {"waited_us", microseconds(r.revision_wait_ns)}};
  json["mapping"] = {{"maps", r.map_calls},
                     {"unmaps", r.unmap_calls},
                     {"pages", r.pages_mapped},
                     {"bytes_staged", r.bytes_staged},
                     {"waited_us", microseconds(r.mapping_ns)}};
  json["recovery"] = {{"retried", r.retried}, {"lost_interrupts", r.lost_interrupts}};
  return json;
}

// Who revised, and how much of the time that hart had work.
void write_revision_path(std::ostream& out, const ordered_json& stats) {
  const auto& total = stats["total"];
  const auto& cpu = stats["configuration"]["cpu"];
  const bool rv64 = stats["cpu_seat"] == name_of(cpu_choice::rv64);
  const bool own = (rv64 ? cpu["rv64"]["harts"] : cpu["harts"]) == 1;
  const char* name = !own ? "cpu1" : rv64 ? "cpu0" : "cpu";
  const double time_us = total["latency_us"];
  const ordered_json& counters = total["counters"];
  const ordered_json hart = counters.contains(name) ? counters[name] : ordered_json::object();
  out << "              by the CPU path on " << (own ? "the firmware's own hart" : "hart 1") << std::setprecision(1);
  if (all_answered(total)) out << ", which had work for " << 100 * busy_share(hart, time_us * 1e6) << " % of the time";
  out << "; steps waited " << 100 * ratio(total["revisions"]["waited_us"].get<double>(), time_us) << " %\n";
}

void write_events(std::ostream& out, const ordered_json& stats) {
  const auto& total = stats["total"];
  if (const auto& drafts = total["drafts"]; drafts["offered"] != 0) {
    out << "  drafts      " << drafts["offered"] << " offered, " << drafts["accepted"] << " accepted, "
        << drafts["rejected"] << " rejected\n";
  }
  if (const auto& revisions = total["revisions"]; revisions["made_visible"] != 0) {
    out << "  revision    " << revisions["made_visible"] << " visible, " << revisions["made_stable"] << " stable, "
        << revisions["picked"] << " revised: " << revisions["applied"] << " landed, " << revisions["replaced"]
        << " of them changed, " << revisions["dropped"] << " dropped\n";
    if (revisions["picked"] != 0) write_revision_path(out, stats);
  }
  if (const auto& mapping = total["mapping"]; mapping["maps"] != 0) {
    out << "  window      " << counted(mapping["maps"], "map") << " of " << counted(mapping["pages"], "page") << ", "
        << grouped_bytes(mapping["bytes_staged"].get<double>()) << " staged, CPU waited " << std::setprecision(1)
        << 100 * ratio(mapping["waited_us"].get<double>(), total["latency_us"].get<double>()) << " % of the time\n";
  }
  if (const auto& recovery = total["recovery"]; recovery["retried"] != 0 || recovery["lost_interrupts"] != 0) {
    out << "  recovery    " << counted(recovery["retried"], "forward") << " tried again, "
        << counted(recovery["lost_interrupts"], "interrupt") << " found lost\n";
  }
  if (const auto& counters = total["counters"];
      counters.contains("faults") && counters["faults"].contains("injected")) {
    std::uint64_t all = 0;
    std::string kinds;
    for (const auto& item : counters["faults"]["injected"].items()) {
      if (item.value() == 0) continue;
      all += item.value().get<std::uint64_t>();
      kinds += (kinds.empty() ? ": " : ", ") + item.key() + ' ' + item.value().dump();
    }
    out << "  faults      " << all << " injected" << kinds << '\n';
  }
}

}  // namespace

ordered_json make_stats(const platform_config& config, const loaded_model& model, const run_options& options,
                        const decode_options& decode, const std::vector<answer>& answers) {
  ordered_json stats;
  stats["schema"] = "dllm-vp.stats.1";
  stats["version"] = version;
  stats["configuration"] = config.source;
  stats["model"] = {{"name", model.name()},
                    {"architecture", gen::name_of(model.header().arch)},
                    {"layers", model.header().layers},
                    {"width", model.header().width},
                    {"vocabulary", model.header().vocabulary}};
  stats["data"] = name_of(model.data());
  stats["array_seat"] = name_of(options.array);
  stats["cpu_seat"] = name_of(config.seat);
  stats["decode"] = {
      {"generate_tokens", decode.generate_tokens}, {"steps", decode.steps}, {"threshold", decode.threshold},
      {"temperature", decode.temperature},         {"seed", decode.seed},   {"stop_at_end", decode.stop_at_end}};
  if (config.decode.compression.any()) stats["compression"] = compression_used(config.decode.compression, model);

  ordered_json all_figures, ok_figures;
  ordered_json all_recovery = events_of({})["recovery"];
  ordered_json all_events = events_of({});
  ordered_json all_phases = phases_of({});
  std::vector<gen::layer_statistics> all_layers;
  std::uint64_t duration_ps = 0, generated = 0, forwards = 0, denoise = 0, committed = 0, right = 0, scored = 0, ok = 0;
  ordered_json list = ordered_json::array();
  for (const auto& a : answers) {
    const std::uint64_t ps = a.end_ps - a.begin_ps;
    ordered_json item;
    item["id"] = a.request.id;
    item["prompt"] = a.request.text;
    item["answer"] = a.text;
    if (a.request.expected) {
      item["expected"] = *a.request.expected;
      item["right"] = a.right();
      ++scored;
      right += a.right() ? 1 : 0;
    }
    item["result"] = a.fault.empty() ? gen::name_of(a.result.code) : a.fault;
    if (!a.ok()) item["trouble"] = trouble_of(a, config);
    item["tokens"] = {{"prompt", a.prompt_tokens}, {"generated", a.generated()}, {"committed", a.result.committed}};
    item["rows"] = a.result.rows;
    item["blocks"] = a.result.blocks;
    const ordered_json events = events_of(a.result);
    item.update(events);
    item["descriptors"] = a.result.descriptors;
    item["descriptor_hashes"] = ordered_json::array();
    for (const std::uint64_t hash : a.descriptor_hashes) item["descriptor_hashes"].push_back(hexadecimal(hash));
    if (config.decode.compression.any()) {
      item["compression"] = compression_figures(config.decode.compression, a.layers);
    }
    item["state_hash"] = hexadecimal(a.result.state_hash);
    item["revision_hash"] = hexadecimal(a.result.revision_hash);
    item.update(costs(config, a.figures, ps, a.generated(), a.result.forwards, a.result.denoise_forwards,
                      a.result.committed, events["mapping"]["waited_us"].get<double>()));
    list.push_back(std::move(item));

    ordered_json phases = phases_of(a);
    const auto prefill_ps = static_cast<std::uint64_t>(std::llround(phases["prefill"]["us"].get<double>() * 1e6));
    phases["prefill"]["system_pj"] = energy_of(config, a.prefill_figures, prefill_ps)["system_pj"]["value"];
    list.back()["phases"] = phases;
    all_figures = sum(all_figures, a.figures);
    all_recovery = sum(all_recovery, events["recovery"]);
    // An answer that failed is no throughput, and the time it took no latency.
    if (!a.ok()) continue;
    ok_figures = sum(ok_figures, a.figures);
    all_events = sum(all_events, events);
    all_phases = sum(all_phases, phases);
    add(all_layers, a.layers);
    duration_ps += ps;
    generated += a.generated();
    forwards += a.result.forwards;
    denoise += a.result.denoise_forwards;
    committed += a.result.committed;
    ++ok;
  }
  ordered_json total;
  total["prompts"] = answers.size();
  total["answered"] = ok;
  if (scored != 0) total["score"] = {{"right", right}, {"of", scored}};
  total["tokens_generated"] = generated;
  total.update(all_events);
  total["recovery"] = all_recovery;
  total["phases"] = all_phases;
  if (ok != 0 && config.decode.compression.any()) {
    total["compression"] = compression_figures(config.decode.compression, all_layers);
  }
  total.update(costs(config, ok_figures, duration_ps, generated, forwards, denoise, committed,
                     all_events["mapping"]["waited_us"].get<double>()));
  total["counters"] = all_figures;
  stats["total"] = std::move(total);
  stats["answers"] = std::move(list);
  return stats;
}

ordered_json make_trajectory(const loaded_model& model, const std::vector<answer>& answers) {
  ordered_json result;
  result["schema"] = "dllm-vp.trajectory.1";
  result["model"] = model.name();
  ordered_json list = ordered_json::array();
  for (const auto& a : answers) {
    ordered_json item;
    item["id"] = a.request.id;
    item["prompt"] = a.request.text;
    item["prompt_tokens"] = a.prompt_tokens;
    item["tokens"] = a.tokens;
    ordered_json forwards = ordered_json::array();
    for (const auto& f : a.forwards) {
      ordered_json commits = ordered_json::array();
      for (const auto& c : f.commits) commits.push_back({{"position", c.position}, {"token", c.token}});
      ordered_json seen = {{"kind", gen::name_of(f.kind)},
                           {"forward", f.forward},
                           {"first", f.first},
                           {"rows", f.length},
                           {"commits", std::move(commits)}};
      if (f.prefix != gen::prefix_reading::whole) seen["prefix"] = gen::name_of(f.prefix);
      if (f.network != gen::network_pass::whole) seen["network"] = gen::name_of(f.network);
      forwards.push_back(std::move(seen));
    }
    item["forwards"] = std::move(forwards);
    if (!a.decisions.empty()) item["decisions"] = decisions_to_json(a.decisions);
    list.push_back(std::move(item));
  }
  result["answers"] = std::move(list);
  return result;
}

std::string make_summary(const ordered_json& stats, double wall_seconds) {
  const auto& total = stats["total"];
  const auto answered = total["answered"].get<double>();
  const bool npu_off = stats["configuration"]["decode"]["engine"] == "cpu";
  const auto& dram = total["dram"];
  const double latency_us = total["latency_us"];
  const auto cycles = total["npu_cycles"].get<double>();
  std::ostringstream out;
  out << std::fixed;
  out << "  model       " << stats["model"]["name"].get<std::string>() << ", " << counted(total["prompts"], "prompt")
      << ", array: " << stats["array_seat"].get<std::string>()
      << ", platform: " << stats["configuration"]["name"].get<std::string>() << '\n';
  if (stats["cpu_seat"] == name_of(cpu_choice::rv64)) write_cpu(out, stats);
  write_events(out, stats);
  if (!all_answered(total)) {
    out << "  answered    " << total["answered"] << " of " << total["prompts"]
        << (answered == 0 ? "" : "; costs are of those alone") << '\n';
  }
  const auto write_wall = [&] {
    out << "  wall        " << std::setprecision(1) << wall_seconds << " s";
    const double simulated_s = latency_us * 1e-6;
    if (simulated_s > wall_seconds) {
      out << "   (simulated : wall = " << std::setprecision(1) << ratio(simulated_s, wall_seconds) << " : 1)";
    } else if (simulated_s > 0) {
      out << "   (simulated : wall = 1 : " << std::setprecision(0) << ratio(wall_seconds, simulated_s) << ')';
    }
    out << '\n';
  };
  if (answered == 0) {
    write_wall();
    return out.str();
  }
  if (total.contains("score")) {
    out << "  right       " << total["score"]["right"] << " of " << total["score"]["of"] << '\n';
  }
  out << "  simulated   " << std::setprecision(1) << ratio(latency_us, answered) << " us per answer   "
      << std::setprecision(0) << total["tokens_per_second"].get<double>() << " tokens/s   "
      << counted(total["forwards"], "forward") << ", " << std::setprecision(2)
      << total["tokens_per_forward"].get<double>() << " tokens per denoising forward\n";
  write_phases(out, total["phases"], latency_us);
  write_compression(out, stats);
  if (npu_off) {
    out << "  array       NPU off (decode.engine cpu)\n";
  } else {
    out << "  array       " << std::setprecision(1) << 100 * total["array"]["utilisation"].get<double>()
        << " % of peak MACs, busy " << 100 * total["array"]["busy"].get<double>() << " % of the time   ("
        << std::setprecision(3) << total["array"]["macs"].get<double>() * 1e-9 << " GMAC)\n";
    const auto share = [&](const char* cause) {
      return 100 * ratio(total["stall_cycles"][cause].get<double>(), cycles);
    };
    out << "  idle array  " << std::setprecision(1) << share("dependency") << " % waiting for data or other engines, "
        << share("no_work") << " % no work queued;  scratchpad bank waits " << share("scratchpad") << " %\n";
  }
  if (hides_cpu_accesses(stats)) {
    out << "  DRAM        CPU accesses not simulated, nor their energy (cpu.rv64.direct_memory)\n  bound       "
        << bound_text(total["bound"]) << '\n';
    write_wall();
    return out.str();
  }
  double read = 0, written = 0;
  for (const auto& item : dram["bytes_read"].items()) read += item.value().get<double>();
  for (const auto& item : dram["bytes_written"].items()) written += item.value().get<double>();
  out << "  DRAM        " << std::setprecision(1) << dram["bytes_per_second"].get<double>() * 1e-9 << " GB/s of "
      << dram["peak_bytes_per_second"].get<double>() * 1e-9 << "   read " << grouped_bytes(read) << ", written "
      << grouped_bytes(written) << '\n';
  out << "              read:";
  for (const auto& item : dram["bytes_read"].items()) {
    out << "  " << item.key() << ' ' << grouped_bytes(item.value().get<double>());
  }
  out << '\n';
  const auto& delivered = dram["bytes_read_by_precision"];
  if (delivered.contains("q4") || delivered.contains("q2")) {
    out << "              by precision:";
    for (const auto& item : delivered.items()) {
      out << "  " << item.key() << ' ' << grouped_bytes(item.value().get<double>());
    }
    out << '\n';
  }
  if (dram.contains("lpddr5")) write_lpddr5(out, dram["lpddr5"]);
  out << "  bound       " << bound_text(total["bound"]) << '\n';
  write_energy(out, total["energy"]);
  write_wall();
  return out.str();
}

}  // namespace dvp::platform
