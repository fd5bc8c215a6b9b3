#include "tlm/platform/explain/dram_terms.h"

#include "tlm/platform/figures.h"
#include "tlm/platform/reasons.h"
#include "tlm/platform/recorded_memory.h"

namespace dvp::platform {

namespace {

constexpr const char* formulas = "tlm/lpddr5/engine/energy.cpp";

// The value as stored: in the parts of stats.json, else among the counters.
derivation stored_part(const scope& s, const std::string& name) {
  derivation d = s.has("energy.dram_total_pj") ? s.figure("energy.dram_total_pj.parts." + name, "pJ")
                                               : s.run.counter("memory.energy." + name + "_pj_modelled", "pJ");
  d.name = name;
  d.kind = "modelled";
  d.source.clear();
  return d;
}

// An energy of the device; `key` and `standard` as of energy_source().
derivation price(const scope& s, const char* name, double value, const char* unit, const char* key,
                 const char* standard) {
  derivation d;
  d.name = name;
  d.value = value;
  d.unit = unit;
  const std::string source = energy_source(s.run.stats()["configuration"], *s.run.memory(), key, standard);
  d.kind = kind_of_reason(source);
  d.source = source.empty() ? "memory.config.energy of the configuration; it states no reason" : source;
  return d;
}

// The same for energies that are called alike in both.
derivation price(const scope& s, const char* name, double value, const char* unit, const char* key) {
  return price(s, name, value, unit, key, key);
}

double picojoules(std::uint64_t femtojoules) {
  return static_cast<double>(femtojoules) * 1e-3;
}

derivation shape(const char* name, double value, const char* unit) {
  derivation d;
  d.name = name;
  d.value = value;
  d.unit = unit;
  d.kind = "quoted";
  d.source = "gen/spec/dram: organisation of the device";
  return d;
}

derivation activate(const scope& s, const lpddr5::device& device) {
  const derivation count = s.run.counter("memory.commands.act1", "");
  const derivation each = price(s, "energy of an activate", picojoules(device.energy.act_fj), "pJ", "activate_nj",
                                "activate_pj_per_2kb_row");
  return with_formula(stored_part(s, "activate"), count.name + " * " + each.name, formulas, {count, each},
                      count.value * each.value);
}

derivation refresh(const scope& s, const lpddr5::device& device) {
  const derivation all = s.run.counter("memory.commands.refab", "");
  const derivation all_pj = price(s, "energy of a REFab", picojoules(device.energy.ref_all_fj), "pJ", "refresh_all_nj",
                                  "refresh_all_pj_per_8gbit");
  const derivation bank = s.run.counter("memory.commands.refpb", "");
  const derivation bank_pj = price(s, "energy of a REFpb", picojoules(device.energy.ref_bank_fj), "pJ",
                                   "refresh_bank_nj", "refresh_bank_part");
  return with_formula(stored_part(s, "refresh"),
                      all.name + " * " + all_pj.name + " + " + bank.name + " * " + bank_pj.name, formulas,
                      {all, all_pj, bank, bank_pj}, all.value * all_pj.value + bank.value * bank_pj.value);
}

// Every access of the cell array moves a burst of array bits, writes among them.
derivation core(const scope& s, const lpddr5::device& device) {
  const derivation accesses = s.run.counter("memory.column_accesses", "");
  const derivation writes = s.run.counter("memory.bursts.write", "");
  const derivation bits = shape("bits of a burst", 8.0 * device.shape.burst_bytes(), "bit");
  const derivation read =
      price(s, "e_core of reads", picojoules(device.energy.core_read_fj_per_bit), "pJ", "core_read_pj_per_bit");
  const derivation write =
      price(s, "e_core of writes", picojoules(device.energy.core_write_fj_per_bit), "pJ", "core_write_pj_per_bit");
  return with_formula(stored_part(s, "core"),
                      "bits of a burst * ((memory.column_accesses - memory.bursts.write) * e_core of reads + "
                      "memory.bursts.write * e_core of writes)",
                      formulas, {bits, accesses, writes, read, write},
                      bits.value * ((accesses.value - writes.value) * read.value + writes.value * write.value));
}

// What crosses the interface: a bit per DQ and beat of the time in which the data buses carry beats.
derivation down(const scope& s, const lpddr5::device& device) {
  const derivation busy = s.run.counter("memory.busy_ps", "ps");
  const derivation writes = s.run.counter("memory.bursts.write", "");
  const derivation clock = shape("tCK", static_cast<double>(device.times.tCK_fs) * 1e-3, "ps");
  const derivation bits = shape("bits of a burst", 8.0 * device.shape.burst_bytes(), "bit");
  const derivation per_clock =
      shape("bits of a clock", static_cast<double>(device.shape.width_bits) * device.shape.beats_per_ck, "bit");
  const derivation read =
      price(s, "e_down of reads", picojoules(device.energy.down_read_fj_per_bit), "pJ", "down_read_pj_per_bit");
  const derivation write =
      price(s, "e_down of writes", picojoules(device.energy.down_write_fj_per_bit), "pJ", "down_write_pj_per_bit");
  const double written_bits = writes.value * bits.value;
  return with_formula(
      stored_part(s, "down"),
      "(memory.busy_ps / tCK * bits of a clock - memory.bursts.write * bits of a burst) * e_down of "
      "reads + memory.bursts.write * bits of a burst * e_down of writes",
      formulas, {busy, clock, per_clock, writes, bits, read, write},
      (busy.value / clock.value * per_clock.value - written_bits) * read.value + written_bits * write.value);
}

derivation convert(const scope& s, const lpddr5::device& device) {
  const derivation q4 = s.run.counter("memory.precision.q4.elements", "");
  const derivation q4_pj =
      price(s, "E_xcode(4)", picojoules(device.energy.convert_fj_per_element[4]), "pJ", "convert_q4_pj_per_element");
  const derivation q2 = s.run.counter("memory.precision.q2.elements", "");
  const derivation q2_pj =
      price(s, "E_xcode(2)", picojoules(device.energy.convert_fj_per_element[2]), "pJ", "convert_q2_pj_per_element");
  return with_formula(stored_part(s, "convert"), q4.name + " * " + q4_pj.name + " + " + q2.name + " * " + q2_pj.name,
                      formulas, {q4, q4_pj, q2, q2_pj}, q4.value * q4_pj.value + q2.value * q2_pj.value);
}

derivation background(const scope& s, const lpddr5::device& device) {
  struct state {
    const char* counter;
    const char* name;
    const char* key;
    std::uint64_t microwatts;
  };
  const state states[] = {
      {"active", "power, a row open", "active_standby_mw", device.energy.active_standby_uw},
      {"precharged", "power, no row open", "precharge_standby_mw", device.energy.precharge_standby_uw},
      {"active_power_down", "power-down, a row open", "active_power_down_mw", device.energy.active_power_down_uw},
      {"precharge_power_down", "power-down, no row open", "precharge_power_down_mw",
       device.energy.precharge_power_down_uw},
      {"self_refresh", "power of self-refresh", "self_refresh_mw", device.energy.self_refresh_uw}};
  std::vector<derivation> terms;
  std::string formula;
  double sum = 0;
  for (const state& of : states) {
    terms.push_back(s.run.counter(std::string("memory.states.") + of.counter + "_ps", "ps"));
    const derivation power = price(s, of.name, static_cast<double>(of.microwatts), "uW", of.key);
    formula += (formula.empty() ? "(" : " + ") + terms.back().name + " * " + power.name;
    sum += terms.back().value * power.value;
    terms.push_back(power);
  }
  return with_formula(stored_part(s, "background"), formula + ") * 1e-6", formulas, std::move(terms), sum * 1e-6);
}

}  // namespace

derivation dram_part(const scope& s, const std::string& name) {
  derivation stored = stored_part(s, name);
  if (!s.counted() || !s.run.memory()) return stored;
  const lpddr5::device& device = s.run.memory()->dev;
  if (name == "activate") return activate(s, device);
  if (name == "refresh") return refresh(s, device);
  if (name == "core") return core(s, device);
  if (name == "down") return down(s, device);
  if (name == "convert") return convert(s, device);
  if (name == "background" && find_figure(s.run.stats(), "total.counters.memory.states") != nullptr) {
    return background(s, device);
  }
  return stored;
}

}  // namespace dvp::platform
