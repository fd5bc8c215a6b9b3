#include "tlm/platform/dram/tracesetup.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "tlm/platform/files.h"

namespace dvp::platform {

using namespace lpddr5;

namespace {

namespace fs = std::filesystem;

std::uint64_t period_fs(const traffic_setup& setup) {
  return static_cast<std::uint64_t>(std::llround(1e9 / setup.clock_mhz));
}

std::unique_ptr<traffic_source> plan_player(const traffic_setup& setup, std::uint64_t bytes,
                                            const dram_options& options, const memory_config& memory,
                                            const address_mapping& mapping) {
  fs::path path = setup.path;
  const fs::path older = path.parent_path() / "traces" / path.filename();
  std::error_code ignored;
  if (!fs::exists(path, ignored) && fs::exists(older, ignored)) path = older;
  trace_options trace = trace_options_for(options, memory, mapping);
  trace.clock_period_fs = period_fs(setup);
  trace.request_bytes = bytes;
  return std::make_unique<trace_reader>(path.string(), trace);
}

// DRAMSys generators give one request per clock of theirs; sequential addresses wrap at the end of their range.
std::unique_ptr<traffic_source> plan_generator(const traffic_setup& setup, std::uint64_t bytes,
                                               const memory_config& memory, const address_mapping& mapping) {
  if (setup.alignment_bytes != 0 && setup.alignment_bytes != bytes) {
    throw usage_error("tracesetup: " + setup.name + ": dataAlignment " + std::to_string(setup.alignment_bytes) +
                      ": only requests aligned to their own length are made; leave it out");
  }
  const std::uint64_t first = setup.min_address - std::min(setup.min_address, memory.address_offset);
  if (first >= mapping.bytes()) {
    throw usage_error("tracesetup: " + setup.name + ": minAddress " + std::to_string(setup.min_address) +
                      ": the memory has only " + std::to_string(mapping.bytes()) + " bytes");
  }
  std::uint64_t last = mapping.bytes() - 1;
  if (setup.max_address)
    last = std::min(last, *setup.max_address - std::min(*setup.max_address, memory.address_offset));
  generator_options g;
  g.what = setup.random ? pattern::random : pattern::stream;
  g.interval_fs = period_fs(setup);
  g.request_bytes = bytes;
  g.seed = setup.seed;
  g.reads = setup.read_share;
  g.requests = setup.max_transactions == 0 ? setup.requests : std::min(setup.requests, setup.max_transactions);
  g.first_address = first;
  g.range_bytes = last - first + 1;
  if (!setup.random && setup.increment_bytes != 0 && setup.increment_bytes != bytes) {
    g.what = pattern::strided;
    g.laps = false;
    g.stride_bytes = setup.increment_bytes;
  }
  return make_generator(g);
}

}  // namespace

planned_traffic plan_tracesetup(const dram_options& options, const memory_config& memory,
                                const address_mapping& mapping) {
  planned_traffic planned;
  for (const traffic_setup& setup : memory.traffic) {
    const std::uint64_t bytes = setup.data_bytes != 0 ? setup.data_bytes : memory.dev.shape.burst_bytes();
    planned_source source;
    source.source = setup.kind == traffic_kind::player ? plan_player(setup, bytes, options, memory, mapping)
                                                       : plan_generator(setup, bytes, memory, mapping);
    source.limits.outstanding = options.outstanding;
    source.limits.requests = options.requests.value_or(0);
    source.limits.pending_reads = setup.max_pending_reads;
    source.limits.pending_writes = setup.max_pending_writes;
    planned.sources.push_back(std::move(source));
  }
  planned.what = "tracesetup of " + options.config + ", " + std::to_string(planned.sources.size()) + " initiator" +
                 (planned.sources.size() == 1 ? "" : "s");
  return planned;
}

}  // namespace dvp::platform
