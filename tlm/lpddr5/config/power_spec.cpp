#include "tlm/lpddr5/config/power_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/config/notes.h"

namespace dvp::lpddr5 {

namespace {

constexpr double most_volts = 5;
constexpr double most_amperes = 100;

struct domain {  // one supply of the core
  double vdd, idd0, idd2n, idd3n, idd4r, idd4w, idd5, idd5pb, idd6, idd2p, idd3p;
};

struct power_spec {
  std::array<domain, 3> domains;
  double vddq = 0;
  bool any() const {
    return std::any_of(domains.begin(), domains.end(), [](const domain& d) {
      return d.vdd > 0 && (d.idd0 > 0 || d.idd3n > 0 || d.idd4r > 0 || d.idd4w > 0 || d.idd5 > 0);
    });
  }
};

power_spec read_currents(const core::json_object& json) {
  constexpr std::array<const char*, 3> suffixes = {"1", "2h", "2l"};
  power_spec spec;
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    const std::string suffix = suffixes[i];
    const double vdd = json.number_or("vdd" + suffix, 0, 0, most_volts);
    // A supply that is there needs all its currents: one left out would count as none at all.
    const auto current = [&](const char* name) {
      return vdd > 0 ? json.number(name + suffix, 0, most_amperes) : json.number_or(name + suffix, 0, 0, most_amperes);
    };
    spec.domains[i] = {vdd,
                       current("idd0"),
                       current("idd2n"),
                       current("idd3n"),
                       current("idd4r"),
                       current("idd4w"),
                       current("idd5"),
                       current("idd5pb"),
                       current("idd6"),
                       current("idd2p"),
                       current("idd3p")};
    // Deep sleep is not modelled; iBeta cancels out of activate plus precharge.
    json.number_or("idd6ds" + suffix, 0, 0, most_amperes);
    json.number_or("iBeta_vdd" + suffix, 0, 0, most_amperes);
  }
  spec.vddq = json.number_or("vddq", 0, 0, most_volts);
  json.finish();
  return spec;
}

// Sums over the supplies; seconds, joules and watts of one device.
class core_power {
 public:
  core_power(const power_spec& spec, const device& d, double rho, std::vector<std::string>& notes)
      : spec_(spec), d_(d), rho_(rho), notes_(notes) {}

  double activate() const {
    return energy("activate", [&](const domain& v) {
      return v.idd0 * (seconds(d_.times.RAS) + seconds(d_.times.RPpb)) - v.idd3n * seconds(d_.times.RAS) -
             v.idd2n * seconds(d_.times.RPpb);
    });
  }
  double read() const {
    return energy("read", [&](const domain& v) { return (v.idd4r - while_open(v)) * burst_seconds(); });
  }
  double write() const {
    return energy("write", [&](const domain& v) { return (v.idd4w - while_open(v)) * burst_seconds(); });
  }
  double refresh_all() const {
    return energy("all-bank refresh", [&](const domain& v) {
      const double banks = d_.shape.banks();
      const double all_open = shared(v) + banks * (v.idd3n - shared(v));
      return (v.idd5 - all_open) * seconds(d_.times.RFCab);
    });
  }
  double refresh_bank() const {
    return energy("per-bank refresh", [&](const domain& v) {
      const double interval = seconds(d_.times.REFI) / 8;
      const double one = seconds(d_.times.RFCpb);
      const double open = d_.shape.pair_offset != 0 ? two_open(v) : v.idd3n;
      return v.idd5pb * interval - v.idd2n * (interval - one) - open * one;
    });
  }
  double background(double domain::*current) const {
    return energy("background", [&](const domain& v) { return v.*current; });
  }

 private:
  // Current with no bank open but the bank logic active, from the one measured with a bank open.
  double shared(const domain& v) const {
    const double banks = d_.shape.banks();
    return (banks * rho_ * v.idd3n + (1 - rho_) * v.idd2n) / (banks * rho_ + (1 - rho_));
  }
  double two_open(const domain& v) const { return v.idd3n + (v.idd3n - shared(v)); }
  double while_open(const domain& v) const { return d_.shape.mode() == bank_mode::bg ? two_open(v) : v.idd3n; }
  double seconds(cycles n) const { return static_cast<double>(n) * static_cast<double>(d_.times.tCK_fs) * 1e-15; }
  double burst_seconds() const { return seconds(static_cast<cycles>(d_.shape.burst_length)) / d_.shape.beats_per_ck; }
  template <typename Charge>
  double energy(const char* what, Charge charge) const {
    double sum = 0;
    for (const domain& v : spec_.domains) sum += v.vdd * charge(v);
    if (sum < 0) {
      notes_.push_back(std::string("mempowerspec: the currents give a negative energy of ") + what +
                       "; it counts as 0");
      return 0;
    }
    return sum;
  }

  const power_spec& spec_;
  const device& d_;
  double rho_;
  std::vector<std::string>& notes_;
};

std::uint64_t scaled(double value, double factor) {
  return static_cast<std::uint64_t>(std::llround(std::min(value * factor, 9e18)));
}

// One kind of pin: energy of a rising edge, and of a second at one through the termination.
struct pin {
  bool terminated = false;
  double ohms = 0, edge_joules = 0;
};

struct impedances {
  pin rdq, wdq, rdqs, wck;
};

std::optional<impedances> read_impedances(const core::json_object& json, std::vector<std::string>& notes) {
  if (json.has("C_total_ck") || json.has("C_total_dqs") || json.has("R_eq_ck")) {
    for (const char* net : {"cb", "ck", "wck", "dqs", "rb", "wb"}) {
      json.has(std::string("C_total_") + net);
      json.has(std::string("R_eq_") + net);
    }
    json.finish();
    notes.emplace_back(
        "memimpedancespec: its capacitances (the form before DRAMUtils 1.3) are not used; the energy across the I/O is "
        "the default");
    return std::nullopt;
  }
  const auto read = [&](const std::string& name) {
    pin p;
    p.terminated = json.flag_or(name + "_termination", false);
    p.ohms = json.number_or(name + "_R_eq", 0, 0, 1e12);
    p.edge_joules = json.number_or(name + "_dyn_E", 0, 0, 1e-3);
    if (p.terminated && p.ohms <= 0) json.fail(name + "_R_eq", "a terminated pin needs a resistance above 0 ohm");
    return p;
  };
  impedances z{read("rdq"), read("wdq"), read("rdqs"), read("wck")};
  for (const char* name : {"ck", "ca", "rdbi", "wdbi"}) read(name);
  json.finish();
  if (z.rdq.edge_joules <= 0 && z.wdq.edge_joules <= 0) return std::nullopt;
  return z;
}

// Joules per bit: a data pin of random bits rises every fourth bit and is at one half of the time; a differential
// strobe per eight pins rises on each of its wires every `strobe_bits` bits and one of its wires is at one.
double joules_per_bit(const pin& data, const pin& strobe, double strobe_bits, double vddq, double bit_seconds) {
  const auto at_one = [&](const pin& p) { return p.terminated ? vddq * vddq / p.ohms * bit_seconds : 0.0; };
  return data.edge_joules / 4 + at_one(data) / 2 + (2 * strobe.edge_joules / strobe_bits + at_one(strobe)) / 8;
}

}  // namespace

energy_table read_power(const core::json_object& memspec, const device& d, std::uint32_t devices,
                        std::vector<std::string>& notes) {
  energy_table e = standard_energy(d.shape);
  double rho = 1;
  if (memspec.has("bankwisespec")) {
    const auto json = memspec.object("bankwisespec");
    rho = json.number_or("factRho", 1, 0, 1);
    for (const char* key : {"factSigma", "pasrMode", "hasPASR"}) {
      if (json.has(key)) add_note(notes, not_used, json.path_of(key));
    }
    json.finish();
  }
  power_spec spec{};
  if (memspec.has("mempowerspec")) spec = read_currents(memspec.object("mempowerspec"));
  if (spec.any()) {
    const core_power power(spec, d, rho, notes);
    const double bits = static_cast<double>(d.shape.burst_bytes()) * 8 / devices;
    e.act_fj = scaled(power.activate(), devices * 1e15);
    e.ref_all_fj = scaled(power.refresh_all(), devices * 1e15);
    e.ref_bank_fj = scaled(power.refresh_bank(), devices * 1e15);
    e.core_read_fj_per_bit = scaled(power.read() / bits, 1e15);
    e.core_write_fj_per_bit = scaled(power.write() / bits, 1e15);
    e.active_standby_uw = scaled(power.background(&domain::idd3n), devices * 1e6);
    e.precharge_standby_uw = scaled(power.background(&domain::idd2n), devices * 1e6);
    e.active_power_down_uw = scaled(power.background(&domain::idd3p), devices * 1e6);
    e.precharge_power_down_uw = scaled(power.background(&domain::idd2p), devices * 1e6);
    e.self_refresh_uw = scaled(power.background(&domain::idd6), devices * 1e6);
    e.basis = "core and background: currents of " + memspec.file() + "; I/O and conversion: defaults";
  } else {
    notes.push_back("mempowerspec: " + std::string(memspec.has("mempowerspec") ? "all zero" : "missing") +
                    "; the default energies are used");
  }
  if (memspec.has("memimpedancespec")) {
    const auto z = read_impedances(memspec.object("memimpedancespec"), notes);
    if (z) {
      const double bit = static_cast<double>(d.times.tCK_fs) * 1e-15 / d.shape.beats_per_ck;
      e.down_read_fj_per_bit = scaled(joules_per_bit(z->rdq, z->rdqs, 2, spec.vddq, bit), 1e15);
      e.down_write_fj_per_bit = scaled(joules_per_bit(z->wdq, z->wck, 2, spec.vddq, bit), 1e15);
      e.basis = (spec.any() ? "core, background and I/O: currents and impedances of " : "I/O: impedances of ") +
                memspec.file() + (spec.any() ? "; conversion: default" : "; the rest: defaults");
      notes.emplace_back("memimpedancespec: data and strobe pins are counted with random data; ck, ca and dbi are not");
    }
  }
  return e;
}

}  // namespace dvp::lpddr5
