// Energy: counts times prices (tlm/platform/energy.h, tlm/lpddr5/engine/energy.cpp).
#include "tlm/platform/explain/dram_terms.h"
#include "tlm/platform/explain/terms.h"
#include "tlm/platform/figures.h"

namespace dvp::platform {

namespace {

using nlohmann::ordered_json;

constexpr const char* header = "tlm/platform/energy.h";

derivation entry(const scope& s, const std::string& name) {
  derivation d = s.figure("energy." + name, "pJ");
  d.value = value_at(s.run.stats(), d.figure + ".value");
  d.kind = "modelled";
  return d;
}

derivation part(const scope& s, const std::string& of, const std::string& name) {
  derivation d = s.figure("energy." + of + ".parts." + name, "pJ");
  d.name = name;
  d.kind = "modelled";
  return d;
}

// Pairs of a count and a price: a * b + c * d + ...
derivation products(derivation d, std::vector<derivation> terms) {
  std::string formula;
  double sum = 0;
  for (std::size_t i = 0; i + 1 < terms.size(); i += 2) {
    formula += (i == 0 ? "" : " + ") + terms[i].name + " * " + terms[i + 1].name;
    sum += terms[i].value * terms[i + 1].value;
  }
  return with_formula(std::move(d), std::move(formula), header, std::move(terms), sum);
}

derivation macs(const scope& s) {
  derivation d = part(s, "npu_pj", "macs");
  if (!s.counted()) return d;
  std::vector<derivation> terms;
  for (const char* format : {"bf16", "q8", "q4", "q2"}) {
    derivation count = s.run.counter(std::string("npu.work.macs_") + format, "");
    count.source = "tlm/npu/work.h: products of the streamed format";
    terms.push_back(std::move(count));
    terms.push_back(s.run.price(std::string("energy.mac_pj.") + format, "pJ"));
  }
  return products(std::move(d), std::move(terms));
}

derivation vector(const scope& s) {
  derivation d = part(s, "npu_pj", "vector");
  if (!s.counted()) return d;
  return products(std::move(d),
                  {s.run.counter("npu.work.vector_passes", ""), s.run.price("energy.vector_pj", "pJ"),
                   s.run.counter("npu.work.sampling_elements", ""), s.run.price("energy.sampling_pj", "pJ")});
}

derivation scratchpad(const scope& s) {
  derivation d = part(s, "npu_pj", "scratchpad");
  if (!s.counted()) return d;
  return products(std::move(d), {s.run.counter("npu.work.scratchpad_bytes", "B"),
                                 s.run.price("energy.scratchpad_pj_per_byte", "pJ")});
}

derivation npu_static(const scope& s) {
  derivation d = part(s, "npu_pj", "static");
  d.name = "npu static";
  if (text_at(s.run.stats(), "configuration.decode.engine") != "npu") {
    d.source = "0: the NPU is off (decode.engine cpu)";
    return d;
  }
  const derivation power = s.run.price("energy.npu_static_mw", "mW");
  const derivation time = s.figure("latency_us", "us");
  return with_formula(std::move(d), "energy.npu_static_mw * latency_us * 1e3", header, {power, time},
                      power.value * time.value * 1e3);
}

derivation hart(const scope& s, const std::string& name, const ordered_json& counters) {
  const derivation time = s.figure("latency_us", "us");
  const derivation busy_mw = s.run.price("energy.cpu_busy_mw", "mW");
  const derivation idle_mw = s.run.price("energy.cpu_idle_mw", "mW");
  const bool sleeps = counters.contains("sleep_ps");
  const derivation counted = s.run.counter(name + (sleeps ? ".sleep_ps" : ".busy_ps"), "ps");
  const double busy = busy_ps(counters, time.value * 1e6);
  const derivation worked =
      made_of(name + " busy", "ps", "measured", (sleeps ? "latency_us * 1e6 - " : "") + counted.name,
              "tlm/platform/figures.h; kept within 0 and the latency", {counted, time}, busy);
  return made_of(name, "pJ", "modelled",
                 "(energy.cpu_busy_mw * " + worked.name + " + energy.cpu_idle_mw * (latency_us * 1e6 - " + worked.name +
                     ")) * 1e-3",
                 header, {busy_mw, worked, idle_mw, time},
                 (busy_mw.value * busy + idle_mw.value * (time.value * 1e6 - busy)) * 1e-3);
}

// The terms of a system's part, each a part of the DRAM or of the NPU.
derivation system_part(const scope& s, const std::string& name, std::vector<derivation> terms) {
  return as_sum(part(s, "system_pj", name), header, std::move(terms));
}

}  // namespace

derivation npu_energy(const scope& s) {
  return as_sum(entry(s, "npu_pj"), header, {macs(s), vector(s), scratchpad(s), npu_static(s)});
}

derivation cpu_energy(const scope& s) {
  derivation d = entry(s, "cpu_pj");
  if (!s.counted()) return d;
  std::vector<derivation> harts;
  for (const auto& item : s.run.stats()["total"]["counters"].items()) {
    if (item.key().starts_with("cpu")) harts.push_back(hart(s, item.key(), item.value()));
  }
  return as_sum(std::move(d), header, std::move(harts));
}

derivation dram_energy(const scope& s) {
  return as_sum(entry(s, "dram_total_pj"), "tlm/lpddr5/engine/energy.cpp",
                {dram_part(s, "activate"), dram_part(s, "refresh"), dram_part(s, "background"), dram_part(s, "core"),
                 dram_part(s, "down"), dram_part(s, "convert")});
}

derivation dram_movement(const scope& s) {
  derivation d = entry(s, "dram_movement_pj");
  if (s.has("energy.dram_total_pj")) {
    return as_sum(std::move(d), "tlm/lpddr5/engine/energy.cpp",
                  {dram_part(s, "core"), dram_part(s, "down"), dram_part(s, "convert")});
  }
  d.source = "tlm/memory/simple_memory.h: 8 e_core + p e_down per element, by the two prices of the configuration";
  d.terms = {s.run.price("memory.e_core_pj_per_bit", "pJ"), s.run.price("memory.e_down_pj_per_bit", "pJ")};
  if (!s.counted()) return d;
  return as_sum(std::move(d), d.source, {dram_part(s, "core"), dram_part(s, "down")});
}

derivation system_energy(const scope& s) {
  const bool lpddr5 = s.has("energy.dram_total_pj");
  const auto dram = [&](std::initializer_list<const char*> names) {
    std::vector<derivation> terms;
    if (lpddr5 || s.counted()) {
      for (const char* name : names) terms.push_back(dram_part(s, name));
    }
    return terms;
  };
  const auto dram_alone = [&](const char* name, std::initializer_list<const char*> names) {
    std::vector<derivation> terms = dram(names);
    return terms.empty() ? part(s, "system_pj", name) : system_part(s, name, std::move(terms));
  };
  std::vector<derivation> still = dram({"background", "refresh"});
  still.push_back(npu_static(s));
  return as_sum(entry(s, "system_pj"), header,
                {dram_alone("dram_array", {"core", "activate"}), dram_alone("dram_io", {"down"}),
                 dram_alone("conversion", {"convert"}), system_part(s, "compute", {macs(s), vector(s)}),
                 system_part(s, "sram", {scratchpad(s)}), system_part(s, "static", std::move(still)),
                 system_part(s, "cpu", {cpu_energy(s)})});
}

}  // namespace dvp::platform
