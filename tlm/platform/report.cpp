#include "tlm/platform/report.h"

#include <cstdio>
#include <iomanip>
#include <sstream>

#include "dvp_gen/descriptor.h"
#include "dvp_gen/npu_regs.h"
#include "dvp_gen/system.h"
#include "tlm/platform/figures.h"
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
  const std::uint8_t last = static_cast<std::uint8_t>(gen::purpose::commands);
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

// Where the time of an LPDDR5 memory went: shares of channels times duration.
ordered_json lpddr5_shares(const platform_config& config, const ordered_json& figures) {
  const double time = value_at(figures, "memory.elapsed_ps") * config.memory.lpddr5->channels;
  const auto share = [&](const char* figure) {
    return ratio(value_at(figures, std::string("memory.") + figure), time);
  };
  ordered_json json;
  json["bus_busy"] = share("busy_ps");
  json["idle"] = {{"no_request", share("idle.no_request_ps")},   {"row", share("idle.row_ps")},
                  {"refresh", share("idle.refresh_ps")},         {"bank_group", share("idle.bank_group_ps")},
                  {"turnaround", share("idle.turnaround_ps")},   {"core", share("idle.core_ps")},
                  {"command_bus", share("idle.command_bus_ps")}, {"power_down", share("idle.power_down_ps")}};
  const double bursts = value_at(figures, "memory.bursts.read") + value_at(figures, "memory.bursts.write");
  json["row_hits"] = ratio(value_at(figures, "memory.rows.hits"), bursts);
  return json;
}

// What held the run back: the part that was in use, or in the way, for the largest share of the time.
ordered_json bound_of(const ordered_json& costs) {
  ordered_json shares;
  shares["array"] = costs["array"]["busy"];
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

ordered_json dram_energy(const platform_config& config, const ordered_json& figures) {
  const auto part = [&](const char* name) {
    return value_at(figures, std::string("memory.energy.") + name + "_pj_modelled");
  };
  ordered_json json;
  if (!config.memory.lpddr5) {
    json["dram_movement_pj"] = {{"value", part("total")},
                                {"kind", "modelled"},
                                {"formula",
                                 "sum over elements of 8 e_core + p e_down, memory.e_core_pj_per_bit and "
                                 "memory.e_down_pj_per_bit of the configuration"}};
    return json;
  }
  json["dram_movement_pj"] = {{"value", part("core") + part("down") + part("convert")},
                              {"kind", "modelled"},
                              {"formula",
                               "bits read from or written to the cell array times their energy, bits across "
                               "the interface, padding included, times theirs, and conversion"}};
  json["dram_total_pj"] = {{"value", part("total")},
                           {"kind", "modelled"},
                           {"formula", "movement, activates, refreshes, and background power times time"}};
  for (const char* name : {"activate", "refresh", "background", "core", "down", "convert"}) {
    json["dram_total_pj"]["parts"][name] = part(name);
  }
  return json;
}

// The costs of one request, or of all of them together: everything follows from counters.
ordered_json costs(const platform_config& config, const ordered_json& figures, std::uint64_t duration_ps,
                   std::uint64_t generated, std::uint64_t forwards, std::uint64_t denoise_forwards,
                   std::uint64_t committed) {
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
  json["busy_cycles"] = {{"array", npu(counter::array_busy)},
                         {"vector", npu(counter::vector_busy)},
                         {"sampling", npu(counter::sampling_busy)},
                         {"dma_load", npu(counter::dma_load_busy)},
                         {"dma_store", npu(counter::dma_store_busy)}};
  json["dram"] = {{"bytes_read", bytes_by_purpose(figures, "read")},
                  {"bytes_written", bytes_by_purpose(figures, "write")},
                  {"bytes_per_second", ratio(read + written, seconds)},
                  {"peak_bytes_per_second", config.memory.peak_bytes_per_second}};
  if (config.memory.lpddr5) json["dram"]["lpddr5"] = lpddr5_shares(config, figures);
  json["bound"] = bound_of(json);
  json["energy"] = dram_energy(config, figures);
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
  text << (held == "none" ? "nothing alone: latencies and dependencies" : held) << "   (";
  const char* separator = "";
  for (const auto& item : bound["shares"].items()) {
    if (item.value().get<double>() < 0.0005) continue;
    text << separator << item.key() << ' ' << 100 * item.value().get<double>() << " %";
    separator = ", ";
  }
  return text.str() + " of the time)";
}

void write_energy(std::ostream& out, const ordered_json& energy) {
  out << "  energy      " << std::setprecision(2) << energy["dram_movement_pj"]["value"].get<double>() * 1e-6
      << " uJ DRAM movement";
  if (!energy.contains("dram_total_pj")) {
    out << " (modelled: 8 e_core + p e_down per element)\n";
    return;
  }
  const auto& total = energy["dram_total_pj"];
  out << " of " << total["value"].get<double>() * 1e-6 << " uJ DRAM in all (modelled:";
  for (const auto& item : total["parts"].items()) {
    out << ' ' << item.key() << ' ' << item.value().get<double>() * 1e-6;
  }
  out << ")\n";
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
      << " M instructions, asleep " << 100 * ratio(asleep_ps, time_ps) << " % of the time\n";
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

ordered_json drafts_of(std::uint64_t offered, std::uint64_t accepted, std::uint64_t rejected) {
  return {{"offered", offered}, {"accepted", accepted}, {"rejected", rejected}};
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
  stats["array_seat"] = name_of(options.array);
  stats["cpu_seat"] = name_of(config.seat);
  stats["decode"] = {
      {"generate_tokens", decode.generate_tokens}, {"steps", decode.steps}, {"threshold", decode.threshold},
      {"temperature", decode.temperature},         {"seed", decode.seed},   {"stop_at_end", decode.stop_at_end}};

  ordered_json all_figures;
  std::uint64_t offered = 0, accepted = 0, rejected = 0, edits = 0;
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
    item["tokens"] = {{"prompt", a.prompt_tokens}, {"generated", a.generated()}, {"committed", a.result.committed}};
    item["rows"] = a.result.rows;
    item["blocks"] = a.result.blocks;
    item["drafts"] = drafts_of(a.result.drafts_offered, a.result.drafts_accepted, a.result.drafts_rejected);
    item["edits"] = a.result.edits;
    item["descriptors"] = a.result.descriptors;
    item["descriptor_hashes"] = ordered_json::array();
    for (const std::uint64_t hash : a.descriptor_hashes) item["descriptor_hashes"].push_back(hexadecimal(hash));
    item["state_hash"] = hexadecimal(a.result.state_hash);
    item.update(
        costs(config, a.figures, ps, a.generated(), a.result.forwards, a.result.denoise_forwards, a.result.committed));
    list.push_back(std::move(item));

    all_figures = sum(all_figures, a.figures);
    duration_ps += ps;
    generated += a.generated();
    forwards += a.result.forwards;
    denoise += a.result.denoise_forwards;
    committed += a.result.committed;
    offered += a.result.drafts_offered;
    accepted += a.result.drafts_accepted;
    rejected += a.result.drafts_rejected;
    edits += a.result.edits;
    ok += a.ok() ? 1 : 0;
  }
  ordered_json total;
  total["prompts"] = answers.size();
  total["answered"] = ok;
  if (scored != 0) total["score"] = {{"right", right}, {"of", scored}};
  total["tokens_generated"] = generated;
  total["drafts"] = drafts_of(offered, accepted, rejected);
  total["edits"] = edits;
  total.update(costs(config, all_figures, duration_ps, generated, forwards, denoise, committed));
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
      forwards.push_back({{"kind", gen::name_of(f.kind)},
                          {"forward", f.forward},
                          {"first", f.first},
                          {"rows", f.length},
                          {"commits", std::move(commits)}});
    }
    item["forwards"] = std::move(forwards);
    list.push_back(std::move(item));
  }
  result["answers"] = std::move(list);
  return result;
}

std::string make_summary(const ordered_json& stats, double wall_seconds) {
  const auto& total = stats["total"];
  const auto prompts = total["prompts"].get<double>();
  const auto& dram = total["dram"];
  const double latency_us = total["latency_us"];
  const auto cycles = total["npu_cycles"].get<double>();
  std::ostringstream out;
  out << std::fixed;
  out << "  model       " << stats["model"]["name"].get<std::string>() << ", " << total["prompts"] << " prompt"
      << (prompts == 1 ? "" : "s") << ", array: " << stats["array_seat"].get<std::string>()
      << ", platform: " << stats["configuration"]["name"].get<std::string>() << '\n';
  if (stats["cpu_seat"] == name_of(cpu_choice::rv64)) write_cpu(out, stats);
  if (const auto& drafts = total["drafts"]; drafts["offered"] != 0) {
    out << "  drafts      " << drafts["offered"] << " offered, " << drafts["accepted"] << " accepted, "
        << drafts["rejected"] << " rejected\n";
  }
  if (total.contains("score")) {
    out << "  right       " << total["score"]["right"] << " of " << total["score"]["of"] << '\n';
  }
  out << "  simulated   " << std::setprecision(1) << ratio(latency_us, prompts) << " us per answer   "
      << std::setprecision(0) << total["tokens_per_second"].get<double>() << " tokens/s   " << total["forwards"]
      << " forwards, " << std::setprecision(2) << total["tokens_per_forward"].get<double>()
      << " tokens per denoising forward\n";
  out << "  array       " << std::setprecision(1) << 100 * total["array"]["utilisation"].get<double>()
      << " % of peak MACs, busy " << 100 * total["array"]["busy"].get<double>() << " % of the time   ("
      << std::setprecision(3) << total["array"]["macs"].get<double>() * 1e-9 << " GMAC)\n";
  const auto share = [&](const char* cause) { return 100 * ratio(total["stall_cycles"][cause].get<double>(), cycles); };
  out << "  idle array  " << std::setprecision(1) << share("dependency") << " % waiting for data or other engines, "
      << share("no_work") << " % no work queued;  scratchpad bank waits " << share("scratchpad") << " %\n";
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
  if (dram.contains("lpddr5")) write_lpddr5(out, dram["lpddr5"]);
  out << "  bound       " << bound_text(total["bound"]) << '\n';
  write_energy(out, total["energy"]);
  out << "  wall        " << std::setprecision(1) << wall_seconds
      << " s   (simulated : wall = 1 : " << std::setprecision(0) << ratio(wall_seconds * 1e6, latency_us) << ")\n";
  return out.str();
}

}  // namespace dvp::platform
