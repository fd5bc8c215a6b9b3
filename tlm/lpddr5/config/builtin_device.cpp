#include "tlm/lpddr5/config/builtin_device.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "dvp_gen/dram.h"
#include "tlm/core/nearest_word.h"
#include "tlm/core/strict_json.h"
#include "tlm/lpddr5/engine/expression.h"

namespace dvp::lpddr5 {

namespace {

using nlohmann::json;

// The files have passed their schemas when they were generated from, so keys are taken as they come.
const json& standard() {
  static const json document = json::parse(gen::dram::standards[0].text);
  return document;
}

std::string shown_name(std::string_view name) {
  std::string result(name);
  std::replace(result.begin(), result.end(), '_', '-');
  return result;
}

json speed_named(const std::string& name) {
  for (const auto& file : gen::dram::speeds) {
    if (core::same_word(shown_name(file.name), name)) return json::parse(file.text);
  }
  const auto names = builtin_devices();
  const std::string close = core::nearest_word(name, names);
  throw std::invalid_argument("device: there is no built-in device \"" + name + "\"; " +
                              (close.empty() ? "" : "did you mean " + close + "? ") + "there are " +
                              core::word_list(names));
}

const json& element(const json& list, const char* key, const json& value) {
  return *std::find_if(list.begin(), list.end(), [&](const json& item) { return item.at(key) == value; });
}

cycles in_clocks(double nanoseconds, std::uint64_t tCK_fs) {
  const auto fs = static_cast<std::uint64_t>(std::llround(nanoseconds * 1e6));
  return static_cast<cycles>((fs + tCK_fs - 1) / tCK_fs);
}

cycles resolved(const json& value, const timing& t) {
  if (value.contains("ck")) return value["ck"].get<cycles>();
  if (value.contains("ns")) {
    return std::max(in_clocks(value["ns"].get<double>(), t.tCK_fs), value.value("min_ck", cycles{0}));
  }
  return evaluate(value["expression"].get<std::string>(), t);
}

cycles timing::*member(const std::string& name) {
  for (const timing_field& field : timing_fields()) {
    if (field.name == name) return field.value;
  }
  throw std::invalid_argument("gen/spec/dram: no timing is called " + name);
}

// Later lists win over earlier ones; what is computed from other timings comes when those are known.
class value_set {
 public:
  void add(const json& values) {
    for (const json& value : values) values_[value.at("name").get<std::string>()] = value;
  }
  void store(timing& t) const {
    for (const bool expressions : {false, true}) {
      for (const auto& [name, value] : values_) {
        if (value.contains("expression") == expressions) t.*member(name) = resolved(value, t);
      }
    }
  }
  std::string provenance() const {
    std::map<std::string, std::string> names_of_source;
    for (const auto& [name, value] : values_) {
      std::string& names = names_of_source[value.at("source").get<std::string>()];
      names += (names.empty() ? "" : ", ") + name;
    }
    std::string text;
    for (const auto& [source, names] : names_of_source) text += names + ": " + source + ".\n";
    return text;
  }

 private:
  std::map<std::string, json> values_;
};

const char* name_of(bank_mode mode) {
  return mode == bank_mode::bg ? "BG" : mode == bank_mode::b16 ? "16B" : "8B";
}

// The values of a key of each element, for "there are ...".
std::string offered(const json& list, const char* key) {
  std::vector<std::string> words;
  for (const json& item : list)
    words.push_back(item.at(key).is_string() ? item.at(key).get<std::string>() : item.at(key).dump());
  return core::word_list(words);
}

const json& mode_for(const device_choice& choice, const json& speed) {
  const auto rate = speed.at("data_rate").get<std::uint32_t>();
  const json& modes = standard().at("bank_modes");
  const bank_mode wanted = choice.mode.value_or(
      rate >= element(modes, "name", "BG").at("lowest_rate").get<std::uint32_t>() ? bank_mode::bg : bank_mode::b16);
  const json& mode = element(modes, "name", name_of(wanted));
  const std::string name = name_of(wanted);
  const json& standards = mode.at("standards");
  const std::string which = speed.at("standard").get<std::string>();
  if (std::find(standards.begin(), standards.end(), which) == standards.end()) {
    throw std::invalid_argument("bank_mode: " + which + " has no " + name + " mode; choose BG");
  }
  const auto lowest = mode.at("lowest_rate").get<std::uint32_t>();
  const auto highest = mode.at("highest_rate").get<std::uint32_t>();
  if (rate < lowest || rate > highest) {
    throw std::invalid_argument("bank_mode: " + name + " mode is for " + std::to_string(lowest) + " to " +
                                std::to_string(highest) + " Mb/s and " + choice.speed + " runs at " +
                                std::to_string(rate) + "; choose " +
                                (wanted == bank_mode::b16 ? "BG" : "another mode"));
  }
  return mode;
}

const json& burst_for(const device_choice& choice, const json& mode) {
  const json& bursts = mode.at("bursts");
  if (!choice.burst_length) return bursts.front();
  for (const json& burst : bursts) {
    if (burst.at("length") == *choice.burst_length) return burst;
  }
  throw std::invalid_argument("burst_length: " + mode.at("name").get<std::string>() + " mode has no bursts of " +
                              std::to_string(*choice.burst_length) + "; choose " + offered(bursts, "length"));
}

const json& density_for(const device_choice& choice) {
  const json& densities = standard().at("densities");
  for (const json& density : densities) {
    if (density.at("gbit") == choice.density_gbit) return density;
  }
  throw std::invalid_argument("density_gbit: there is no die of " + std::to_string(choice.density_gbit) +
                              " Gb; choose one of " + offered(densities, "gbit"));
}

void check_width(const device_choice& choice) {
  constexpr std::uint32_t widest = 1024;
  if (choice.width_bits < 16 || choice.width_bits > widest || !std::has_single_bit(choice.width_bits)) {
    throw std::invalid_argument(
        "width_bits: " + std::to_string(choice.width_bits) +
        " is not 16 times a power of two up to 1024; a channel is made of x16 dies side by side");
  }
  if (choice.ranks < 1 || choice.ranks > 4 || !std::has_single_bit(choice.ranks)) {
    throw std::invalid_argument("ranks: " + std::to_string(choice.ranks) + " is not 1, 2 or 4");
  }
}

command command_named(const json& name) {
  const auto found = std::find(command_names.begin(), command_names.end(), name.get<std::string>());
  return static_cast<command>(found - command_names.begin());
}

std::vector<command> commands_named(const json& names) {
  std::vector<command> result;
  for (const json& name : names) result.push_back(command_named(name));
  return result;
}

rule_scope scope_named(const std::string& name) {
  constexpr std::string_view names[] = {"bank", "bank_group", "rank", "channel", "other_rank"};
  return static_cast<rule_scope>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
}

}  // namespace

std::vector<std::string> builtin_devices() {
  std::vector<std::string> names;
  for (const auto& file : gen::dram::speeds) names.push_back(shown_name(file.name));
  return names;
}

device builtin_device(const device_choice& choice) {
  const json speed = speed_named(choice.speed);
  check_width(choice);
  const json& mode = mode_for(choice, speed);
  const json& burst = burst_for(choice, mode);
  const json& density = density_for(choice);

  device d;
  d.id = shown_name(speed.at("name").get<std::string>());
  d.standard = speed.at("standard").get<std::string>();
  organisation& shape = d.shape;
  shape.ranks = choice.ranks;
  shape.bank_groups = mode.at("bank_groups");
  shape.banks_per_group = mode.at("banks_per_group");
  shape.rows = density.at("rows");
  shape.columns = mode.at("columns");
  shape.width_bits = choice.width_bits;
  shape.burst_length = burst.at("length");
  shape.beats_per_ck = standard().at("beats_per_ck");
  shape.pair_offset = mode.at("pair_offset");
  shape.wck_always_on = choice.wck_always_on;

  d.times.tCK_fs = speed.at("tck_fs");
  value_set values;
  values.add(standard().at("values"));
  values.add(mode.at("values"));
  values.add(burst.at("values"));
  values.add(density.at("values"));
  values.add(speed.at("values"));
  values.store(d.times);
  d.provenance = "tCK: " + speed.at("tck_source").get<std::string>() +
                 ".\nbanks: " + mode.at("source").get<std::string>() + ".\n" + values.provenance();
  d.energy = standard_energy(shape);
  return d;
}

std::vector<rule_row> builtin_rules() {
  std::vector<rule_row> rows;
  for (const json& rule : standard().at("rules")) {
    rule_row row;
    row.scope = scope_named(rule.at("scope").get<std::string>());
    row.earlier = commands_named(rule.at("earlier"));
    row.later = commands_named(rule.at("later"));
    row.latency = rule.at("latency");
    row.window = rule.value("window", 1U);
    if (rule.contains("hole")) {
      row.hole_from = rule["hole"].at("from");
      row.hole_to = rule["hole"].at("to");
    }
    row.why = rule.at("source");
    rows.push_back(std::move(row));
  }
  return rows;
}

cycles standard_timing(std::string_view name, const timing& t) {
  return resolved(element(standard().at("values"), "name", std::string(name)), t);
}

energy_table standard_energy(const organisation& shape) {
  const auto figure = [](const char* name) {
    return element(standard().at("energy"), "name", name).at("value").get<double>();
  };
  const double dies = shape.width_bits / 16.0;
  const double gbit = static_cast<double>(shape.bytes_per_channel()) / shape.ranks * 8 / (1ULL << 30);
  const auto femtojoules = [](double picojoules) {
    return static_cast<std::uint64_t>(std::llround(picojoules * 1000));
  };
  const auto microwatts = [&](const char* name) {
    return static_cast<std::uint64_t>(std::llround(figure(name) * dies * 1000));
  };
  energy_table e;
  e.act_fj = femtojoules(figure("activate_pj_per_2kb_row") * static_cast<double>(shape.bytes_per_row()) / 2048);
  e.ref_all_fj = femtojoules(figure("refresh_all_pj_per_8gbit") * gbit / 8);
  e.ref_bank_fj = femtojoules(figure("refresh_all_pj_per_8gbit") * figure("refresh_bank_part") * gbit / 8);
  e.core_read_fj_per_bit = femtojoules(figure("core_read_pj_per_bit"));
  e.core_write_fj_per_bit = femtojoules(figure("core_write_pj_per_bit"));
  e.down_read_fj_per_bit = femtojoules(figure("down_read_pj_per_bit"));
  e.down_write_fj_per_bit = femtojoules(figure("down_write_pj_per_bit"));
  e.convert_fj_per_element[4] = femtojoules(figure("convert_q4_pj_per_element"));
  e.convert_fj_per_element[2] = femtojoules(figure("convert_q2_pj_per_element"));
  e.active_standby_uw = microwatts("active_standby_mw");
  e.precharge_standby_uw = microwatts("precharge_standby_mw");
  e.active_power_down_uw = microwatts("active_power_down_mw");
  e.precharge_power_down_uw = microwatts("precharge_power_down_mw");
  e.self_refresh_uw = microwatts("self_refresh_mw");
  e.basis = "choice: no LPDDR5 current table is public; see the sources in gen/spec/dram/lpddr5.json";
  return e;
}

}  // namespace dvp::lpddr5
