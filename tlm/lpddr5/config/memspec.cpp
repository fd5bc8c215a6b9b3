#include "tlm/lpddr5/config/memspec.h"

#include <algorithm>
#include <cmath>

#include "tlm/lpddr5/config/builtin_device.h"
#include "tlm/lpddr5/config/device_check.h"
#include "tlm/lpddr5/config/notes.h"
#include "tlm/lpddr5/config/power_spec.h"

namespace dvp::lpddr5 {

namespace {

constexpr std::uint64_t most_rows = std::uint64_t{1} << 24;
constexpr std::uint64_t most_clocks = std::uint64_t{1} << 32;

std::string read_standard(const core::json_object& memspec) {
  const std::string type = memspec.text("memoryType");
  for (const char* known : {"LPDDR5", "LPDDR5X"}) {
    if (core::same_word(type, known)) return known;
  }
  memspec.fail("memoryType", "the file is for " + (type.size() > 40 ? type.substr(0, 40) + "..." : type) +
                                 "; this model does LPDDR5 and LPDDR5X");
}

struct architecture {
  organisation shape;
  std::uint32_t devices = 1;
  std::uint64_t data_rate = 2;  // beats per WCK, or per CK
};

architecture read_architecture(const core::json_object& memspec, std::vector<std::string>& notes) {
  const auto json = memspec.object("memarchitecturespec");
  architecture a;
  organisation& o = a.shape;
  o.channels = json.word_or("nbrOfChannels", 1, 0, 1024);
  if (o.channels == 0) {
    notes.emplace_back("memarchitecturespec.nbrOfChannels: 0 is taken as 1");
    o.channels = 1;
  }
  o.ranks = static_cast<std::uint32_t>(json.whole("nbrOfRanks", 1, 4));
  const auto banks = static_cast<std::uint32_t>(json.whole("nbrOfBanks", 1, 64));
  o.bank_groups = std::max(1U, json.word_or("nbrOfBankGroups", 1, 0, 16));
  if (banks % o.bank_groups != 0) {
    json.fail("nbrOfBankGroups", std::to_string(o.bank_groups) + " does not divide the " + std::to_string(banks) +
                                     " banks; nbrOfBanks counts those of all groups");
  }
  o.banks_per_group = banks / o.bank_groups;
  o.rows = static_cast<std::uint32_t>(json.whole("nbrOfRows", 1, most_rows));
  o.columns = static_cast<std::uint32_t>(json.whole("nbrOfColumns", 1, 65536));
  a.devices = json.word_or("nbrOfDevices", 1, 1, 64);
  o.width_bits = static_cast<std::uint32_t>(json.whole("width", 1, 1024)) * a.devices;
  o.burst_length = static_cast<std::uint32_t>(json.whole("burstLength", 1, 64));
  const std::uint32_t longest = json.word_or("maxBurstLength", o.burst_length, 1, 64);
  if (longest < o.burst_length) json.fail("maxBurstLength", "is below burstLength; give at least that");
  if (longest > o.burst_length) {
    notes.push_back("memarchitecturespec.maxBurstLength: every burst is of burstLength " +
                    std::to_string(o.burst_length));
  }
  o.pair_offset = json.word_or("per2BankOffset", 0, 0, 64);
  o.wck_always_on = json.flag("WCKalwaysOn");
  a.data_rate = json.whole("dataRate", 1, 16);
  json.finish();
  return a;
}

std::uint64_t read_period(const core::json_object& json) {
  if (json.has("clkMhz")) {
    if (json.has("tCK")) json.fail("clkMhz", "stands beside tCK, which says the same; remove one of them");
    return static_cast<std::uint64_t>(std::llround(1e9 / json.number("clkMhz", 1, 10000)));
  }
  const double seconds = json.number("tCK", 0, 1000);
  if (seconds > 1e-6)
    json.fail("tCK", "is longer than a microsecond; give the period of CK in seconds, such as 1.25e-9");
  return static_cast<std::uint64_t>(std::llround(seconds * 1e15));
}

class timing_reader {
 public:
  timing_reader(const core::json_object& json, timing& t, std::vector<std::string>& notes)
      : json_(json), t_(t), notes_(notes) {}

  cycles must(const std::string& key) const { return static_cast<cycles>(json_.whole(key, 0, most_clocks)); }

  // A timing DRAMUtils has no key for, or had none for before.
  void may(const char* name, const std::string& key) const {
    const auto field = std::find_if(timing_fields().begin(), timing_fields().end(),
                                    [&](const timing_field& f) { return f.name == name; });
    if (json_.has(key)) {
      t_.*(field->value) = must(key);
      return;
    }
    const bool from_refresh = std::string_view(name) == "XSR";
    t_.*(field->value) = from_refresh ? t_.RFCab + standard_timing("XP", t_) : standard_timing(name, t_);
    add_note(notes_, json_.path_of("") + ": missing, default used", key + " " + std::to_string(t_.*(field->value)));
  }

  // DRAMUtils splits RCD in two; older files have one.
  cycles row_to_column() const {
    const bool split = json_.has("RCD_L") || json_.has("RCD_S");
    if (!split) return must("RCD");
    const cycles far = must("RCD_L");
    const cycles near = must("RCD_S");
    if (json_.has("RCD")) add_note(notes_, not_used, json_.path_of("RCD") + " beside RCD_L and RCD_S");
    if (far != near) notes_.push_back(json_.path_of("RCD_L") + ": RCD is the longer of RCD_L and RCD_S");
    return std::max(far, near);
  }

 private:
  const core::json_object& json_;
  timing& t_;
  std::vector<std::string>& notes_;
};

timing read_timing(const core::json_object& memspec, architecture& a, std::vector<std::string>& notes) {
  const auto json = memspec.object("memtimingspec");
  timing t;
  t.tCK_fs = read_period(json);
  if (t.tCK_fs == 0) json.fail("tCK", "is zero; give the period of CK in seconds, such as 1.25e-9");
  const timing_reader read(json, t, notes);
  t.REFI = read.must("REFI");
  t.REFIpb = read.must("REFIpb");
  t.RFCab = read.must("RFCab");
  t.RFCpb = read.must("RFCpb");
  t.RAS = read.must("RAS");
  t.RPab = read.must("RPab");
  t.RPpb = read.must("RPpb");
  t.RCpb = read.must("RCpb");
  t.RCab = read.must("RCab");
  t.PPD = read.must("PPD");
  t.RCD = read.row_to_column();
  t.FAW = read.must("FAW");
  t.RRD = read.must("RRD");
  t.RL = read.must("RL");
  t.WL = read.must("WL");
  t.RBTP = read.must("RBTP");
  t.WR = read.must("WR");
  t.RTRS = read.must("RTRS");
  t.WTR_L = read.must("WTR_L");
  t.WTR_S = read.must("WTR_S");
  t.pbR2act = read.must("pbR2act");
  t.pbR2pbR = read.must("pbR2pbR");
  for (const std::string length : {"16", "32"}) {
    const cycles n_min = read.must("BL_n_min_" + length);
    const cycles n_max = read.must("BL_n_max_" + length);
    const cycles n_L = read.must("BL_n_L_" + length);
    const cycles n_S = read.must("BL_n_S_" + length);
    if (length != std::to_string(a.shape.burst_length)) {
      json.has("RTW_S_" + length);
      json.has("RTW_L_" + length);
      continue;
    }
    t.BL_n_min = n_min;
    t.BL_n_max = n_max;
    t.BL_n_L = n_L;
    t.BL_n_S = n_S;
  }
  const std::string length = std::to_string(a.shape.burst_length);
  read.may("RTW_S", "RTW_S_" + length);
  read.may("RTW_L", "RTW_L_" + length);
  for (const char* name : {"AAD", "WCKPST", "XP", "CSPD", "SR", "XSR"}) read.may(name, name);

  const std::uint64_t ratio = json.whole("WCK2CK", 2, 4);
  if (ratio == 3) json.fail("WCK2CK", "3 is no ratio of WCK to CK; give 2 or 4");
  if (a.data_rate != 2 && a.data_rate != 2 * ratio) {
    json.fail("WCK2CK", "does not fit memarchitecturespec.dataRate " + std::to_string(a.data_rate) +
                            ", which is 2 (beats per WCK) or " + std::to_string(2 * ratio) + " (beats per CK)");
  }
  a.shape.beats_per_ck = static_cast<std::uint32_t>(2 * ratio);
  if (json.has("WCK2DQO")) json.whole("WCK2DQO", 0, most_clocks);  // part of RL where the model sees it
  json.finish();
  return t;
}

}  // namespace

device read_memspec(const core::json_object& memspec, std::vector<std::string>& notes) {
  device d;
  d.standard = read_standard(memspec);
  d.id = memspec.text("memoryId");
  architecture a = read_architecture(memspec, notes);
  d.times = read_timing(memspec, a, notes);
  d.shape = a.shape;
  d.provenance = "timing: " + memspec.file() + ".\n";
  check_device(d, memspec.file());
  d.energy = read_power(memspec, d, a.devices, notes);
  memspec.finish();
  return d;
}

}  // namespace dvp::lpddr5
