#include "tlm/platform/dram/traffic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tlm/platform/dram/report.h"
#include "tlm/platform/dram/tracesetup.h"
#include "tlm/platform/files.h"

namespace dvp::platform {

using namespace lpddr5;

namespace {

constexpr std::uint64_t mixed_request_bytes = 256;
constexpr std::uint64_t stream_request_bytes = 4096;
constexpr std::uint64_t default_requests = 1'000'000;

std::string limit_text(std::uint64_t outstanding) {
  return outstanding == 0 ? "as fast as accepted" : grouped(outstanding) + " outstanding";
}

planned_traffic plan_trace(const dram_options& options, const memory_config& memory, const address_mapping& mapping) {
  const trace_options trace = trace_options_for(options, memory, mapping);
  auto reader = std::make_unique<trace_reader>(options.trace, trace);
  planned_traffic planned;
  planned.what = "trace " + options.trace + " (" + std::string(name_of(reader->format())) + "), " +
                 limit_text(options.outstanding);
  planned.requests = options.requests;
  planned.sources.push_back(
      {std::move(reader), {.outstanding = options.outstanding, .requests = options.requests.value_or(0)}});
  return planned;
}

std::string share_text(const generator_options& g) {
  const double total = g.share_q8 + g.share_q4 + g.share_q2 + g.share_q0;
  std::string text;
  const auto add = [&](const char* name, double share) {
    char part[32];
    std::snprintf(part, sizeof part, "%s %.0f %%", name, 100 * share / total);
    if (share > 0) text += (text.empty() ? "" : ", ") + std::string(part);
  };
  add("q8", g.share_q8);
  add("q4", g.share_q4);
  add("q2", g.share_q2);
  add("q0", g.share_q0);
  return text;
}

planned_traffic plan_pattern(const dram_options& options, const memory_config& memory, const address_mapping& mapping) {
  generator_options g = options.generator;
  g.what = options.generate.value_or(pattern::stream);
  const bool is_gemm = g.what == pattern::gemm, is_mixed = g.what == pattern::mixed;
  const std::uint64_t burst = memory.dev.shape.burst_bytes();
  g.request_bytes = options.request_bytes.value_or(memory.controller.stream_bytes != 0 ? stream_request_bytes
                                                   : is_mixed                          ? mixed_request_bytes
                                                                                       : burst);
  g.requests = options.requests.value_or(is_gemm ? 0 : default_requests);
  if (g.first_address >= mapping.bytes()) {
    throw usage_error("--first " + std::to_string(g.first_address) + ": the memory has only " +
                      std::to_string(mapping.bytes()) + " bytes");
  }
  const std::uint64_t room = mapping.bytes() - g.first_address;
  if (g.range_bytes == 0) g.range_bytes = room;
  if (g.range_bytes > room) {
    throw usage_error("--range " + std::to_string(g.range_bytes) + ": the memory has " + std::to_string(room) +
                      " bytes from --first on");
  }

  planned_traffic planned;
  planned.sources.push_back({make_generator(g), {.outstanding = options.outstanding, .requests = 0}});
  if (!is_gemm || options.requests) planned.requests = g.requests;
  planned.what = std::string(name_of(g.what)) + ", ";
  if (is_gemm) {
    planned.what += grouped(g.gemm.m) + " x " + grouped(g.gemm.n) + " x " + grouped(g.gemm.k) + " in tiles of " +
                    grouped(g.gemm.tile_n) + " x " + grouped(g.gemm.tile_k) + ", requests of ";
  } else {
    planned.what += grouped(g.requests) + " requests of ";
  }
  planned.what += grouped(g.request_bytes) + " B";
  if (is_mixed) planned.what += ", " + share_text(g) + " in runs of " + grouped(g.run_elements);
  if (!is_gemm && !is_mixed) {
    char share[32];
    std::snprintf(share, sizeof share, ", %.4g %% reads", 100 * g.reads);
    planned.what += share;
  }
  if (g.what == pattern::strided) planned.what += ", " + grouped(g.stride_bytes) + " B apart";
  char pace[48];
  std::snprintf(pace, sizeof pace, ", one per %.6g ns", static_cast<double>(g.interval_fs) * 1e-6);
  planned.what += g.interval_fs != 0 ? pace : ", " + limit_text(options.outstanding);
  if (g.what == pattern::random || is_mixed || g.reads < 1) planned.seed = g.seed;
  return planned;
}

}  // namespace

trace_options trace_options_for(const dram_options& options, const memory_config& memory,
                                const address_mapping& mapping) {
  trace_options trace;
  trace.format = options.format;
  trace.clock_period_fs =
      options.clock_mhz ? static_cast<std::uint64_t>(std::llround(1e9 / *options.clock_mhz)) : memory.dev.times.tCK_fs;
  trace.request_bytes = options.request_bytes.value_or(memory.dev.shape.burst_bytes());
  trace.memory_bytes = mapping.bytes();
  trace.address_offset = memory.address_offset;
  trace.mapping = &mapping;
  trace.shape = &memory.dev.shape;
  return trace;
}

planned_traffic plan_traffic(const dram_options& options, const memory_config& memory, const address_mapping& mapping) {
  planned_traffic planned = !options.trace.empty()                         ? plan_trace(options, memory, mapping)
                            : !memory.traffic.empty() && !options.generate ? plan_tracesetup(options, memory, mapping)
                                                                           : plan_pattern(options, memory, mapping);
  if (memory.simulation_seconds) {
    const double ps = *memory.simulation_seconds * 1e12;
    for (auto& p : planned.sources) {
      if (ps < 1e18) p.limits.until = to_cycles_up(std::llround(ps), memory.dev.times.tCK_fs);
    }
  }
  return planned;
}

}  // namespace dvp::platform
