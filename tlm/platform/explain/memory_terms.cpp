// Bytes, bandwidth and what held the run back.
#include "tlm/platform/explain/terms.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

double ratio(double a, double b) {
  return b == 0 ? 0 : a / b;
}

derivation bytes_of(const scope& s, const char* direction) {
  std::vector<derivation> purposes;
  const std::string place = std::string("dram.") + direction;
  for (const auto& item : (*find_figure(s.run.stats(), s.at(place))).items()) {
    purposes.push_back(s.figure(place + "." + item.key(), "B"));
  }
  derivation d = s.figure(place, "B");
  for (const derivation& purpose : purposes) d.value += purpose.value;
  return as_sum(std::move(d), "bytes by purpose, as the descriptors of the firmware name it", std::move(purposes));
}

derivation channels(const scope& s) {
  derivation d;
  d.name = "channels";
  d.value = s.run.memory()->channels;
  d.kind = "choice";
  d.source = "memory.config of the configuration";
  return d;
}

derivation device_value(const char* name, double value, const char* unit, const char* kind, const std::string& source) {
  derivation d;
  d.name = name;
  d.value = value;
  d.unit = unit;
  d.kind = kind;
  d.source = source;
  return d;
}

// Idle shares of the data buses, added up.
derivation idle(const scope& s, const std::string& name, const std::vector<std::string>& causes) {
  std::vector<derivation> shares;
  for (const auto& cause : causes) shares.push_back(s.figure("dram.lpddr5.idle." + cause, ""));
  return as_sum(s.figure("bound.shares." + name, ""), "tlm/platform/report.cpp; causes: tlm/lpddr5/engine/figures.h",
                std::move(shares));
}

derivation share(const scope& s, const std::string& name) {
  derivation stored = s.figure("bound.shares." + name, "");
  const auto same = [&](derivation of) {
    const double value = of.value;
    std::string formula = of.name;
    return with_formula(stored, std::move(formula), "tlm/platform/report.cpp", {std::move(of)}, value);
  };
  const auto quotient = [&](const derivation& a, const derivation& b) {
    return with_formula(stored, a.name + " / " + b.name, "tlm/platform/report.cpp", {a, b}, ratio(a.value, b.value));
  };
  if (name == "array") return same(array_busy(s));
  if (name == "stage") return quotient(s.figure("busy_cycles.stage", ""), s.figure("npu_cycles", ""));
  if (name == "mapping") return quotient(s.figure("mapping.waited_us", "us"), s.figure("latency_us", "us"));
  if (name == "memory_io") {
    return s.has("dram.lpddr5") ? same(bus_busy(s)) : quotient(bytes_per_second(s), peak_bytes_per_second(s));
  }
  if (name == "memory_core") return idle(s, name, {"core"});
  if (name == "memory_rows") return idle(s, name, {"row", "bank_group"});
  if (name == "memory_refresh") return idle(s, name, {"refresh"});
  if (name == "memory_commands") return idle(s, name, {"turnaround", "command_bus"});
  return stored;
}

}  // namespace

derivation bytes_read(const scope& s) {
  return bytes_of(s, "bytes_read");
}

derivation bytes_written(const scope& s) {
  return bytes_of(s, "bytes_written");
}

derivation bytes_per_second(const scope& s) {
  const derivation read = bytes_read(s);
  const derivation written = bytes_written(s);
  const derivation time = s.figure("latency_us", "us");
  return with_formula(s.figure("dram.bytes_per_second", "B/s"),
                      "(dram.bytes_read + dram.bytes_written) / (latency_us * 1e-6)", "tlm/platform/report.cpp",
                      {read, written, time}, ratio(read.value + written.value, time.value * 1e-6));
}

derivation peak_bytes_per_second(const scope& s) {
  derivation stored = s.figure("dram.peak_bytes_per_second", "B/s");
  stored.kind = "computed";
  if (text_at(s.run.stats(), "configuration.memory.model") == "fixed") {
    derivation given = s.run.price("memory.bytes_per_second", "B/s");
    const double value = given.value;
    return with_formula(stored, given.name, "tlm/platform/config.cpp", {std::move(given)}, value);
  }
  if (!s.run.memory()) return stored;
  const lpddr5::device& device = s.run.memory()->dev;
  const derivation width =
      device_value("width", device.shape.width_bits, "bit", "choice", "memory.config: DQ of a channel");
  const derivation beats =
      device_value("beats_per_ck", device.shape.beats_per_ck, "", "quoted", "gen/spec/dram: the standard");
  const derivation clock = device_value("tCK", static_cast<double>(device.times.tCK_fs) * 1e-3, "ps", "quoted",
                                        "gen/spec/dram: the speed grade");
  const derivation number = channels(s);
  return with_formula(stored, "channels * width / 8 * beats_per_ck / (tCK * 1e-12)", "tlm/lpddr5/device/device.h",
                      {number, width, beats, clock},
                      ratio(number.value * width.value / 8 * beats.value, clock.value * 1e-12));
}

derivation bus_busy(const scope& s) {
  const derivation stored = s.figure("dram.lpddr5.bus_busy", "");
  if (!s.counted() || !s.run.memory()) return stored;
  const derivation busy = s.run.counter("memory.busy_ps", "ps");
  const derivation elapsed = s.run.counter("memory.elapsed_ps", "ps");
  const derivation number = channels(s);
  return with_formula(stored, "memory.busy_ps / (memory.elapsed_ps * channels)", "tlm/lpddr5/system_report.h",
                      {busy, elapsed, number}, ratio(busy.value, elapsed.value * number.value));
}

derivation row_hits(const scope& s) {
  const derivation stored = s.figure("dram.lpddr5.row_hits", "");
  if (!s.counted()) return stored;
  const derivation hits = s.run.counter("memory.rows.hits", "");
  const derivation read = s.run.counter("memory.bursts.read", "");
  const derivation written = s.run.counter("memory.bursts.write", "");
  return with_formula(stored, "memory.rows.hits / (memory.bursts.read + memory.bursts.write)",
                      "tlm/lpddr5/system_report.h", {hits, read, written},
                      ratio(hits.value, read.value + written.value));
}

derivation bound(const scope& s) {
  derivation d;
  d.figure = s.at("bound");
  d.name = "bound";
  d.text = text_at(s.run.stats(), s.at("bound.held"));
  d.kind = "measured";
  d.formula = "the largest of the shares if it is at least one half, else none";
  d.source = s.run.description_of(s.at("bound"));
  for (const auto& item : (*find_figure(s.run.stats(), s.at("bound.shares"))).items()) {
    d.terms.push_back(share(s, item.key()));
  }
  return d;
}

}  // namespace dvp::platform
