// Energies from currents. Expected values are worked out by hand from the currents of memspec_text():
// RAS 42.5 ns, RP 18.75 ns, RFCab 210 ns, RFCpb 120 ns, REFI / 8 = 488.28125 ns, burst 2.5 ns.
#include "tlm/lpddr5/config/power_spec.h"

#include <gtest/gtest.h>

#include <string>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"
#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::lpddr5 {
namespace {

using testbenches::memspec_text;
using testbenches::with;

memory_config read(const std::string& text) {
  return parse_memory_config(text, "m.json", "");
}

bool noted(const memory_config& config, const std::string& phrase) {
  for (const std::string& note : config.notes) {
    if (note.find(phrase) != std::string::npos) return true;
  }
  return false;
}

TEST(power, currents_become_energies) {
  const energy_table e = read(memspec_text()).dev.energy;
  // 1.8 V (5 x 61.25 - 2 x 42.5 - 1 x 18.75) + 1.05 V (40 x 61.25 - 25 x 42.5 - 20 x 18.75) mA ns
  EXPECT_EQ(e.act_fj, 1'427'625U);
  // (1.8 x (6 - 2) + 1.05 x (225 - 25)) x 2.5 = 543 pJ for 256 bits
  EXPECT_EQ(e.core_read_fj_per_bit, 2121U);
  EXPECT_EQ(e.core_write_fj_per_bit, 1898U);  // 486 pJ
  EXPECT_EQ(e.ref_all_fj, 29'610'000U);
  EXPECT_EQ(e.ref_bank_fj, 11'165'719U);
  EXPECT_EQ(e.active_standby_uw, 29'850U);
  EXPECT_EQ(e.precharge_standby_uw, 22'800U);
  EXPECT_EQ(e.active_power_down_uw, 10'560U);
  EXPECT_EQ(e.precharge_power_down_uw, 5'640U);
  EXPECT_EQ(e.self_refresh_uw, 3'000U);
  // Data pin 2 pJ / 4 + 0.25 V2 / 50 ohm x 0.15625 ns / 2; strobe (1 pJ + 0.78125 pJ) / 8.
  EXPECT_EQ(e.down_read_fj_per_bit, 1113U);
  EXPECT_EQ(e.down_write_fj_per_bit, 1320U);
  EXPECT_NE(e.basis.find("currents and impedances of m.json"), std::string::npos) << e.basis;
}

TEST(power, background_of_the_shared_logic_is_taken_from_reads) {
  // factRho 0.5: I_2 is 2.0588 mA on VDD1 and 25.294 mA on VDD2H.
  const energy_table e = read(with(memspec_text(), "\"factRho\": 1", "\"factRho\": 0.5")).dev.energy;
  EXPECT_EQ(e.core_read_fj_per_bit, 2117U);
}

TEST(power, several_devices_add_up_and_a_bit_costs_the_same) {
  const energy_table one = read(memspec_text()).dev.energy;
  const memory_config four = read(with(memspec_text(), "\"nbrOfDevices\": 1", "\"nbrOfDevices\": 4"));
  EXPECT_EQ(four.dev.shape.width_bits, 64U);
  EXPECT_EQ(four.dev.energy.act_fj, 4 * one.act_fj);
  EXPECT_EQ(four.dev.energy.active_standby_uw, 4 * one.active_standby_uw);
  EXPECT_EQ(four.dev.energy.core_read_fj_per_bit, one.core_read_fj_per_bit);
}

TEST(power, none_means_defaults_and_says_so) {
  const energy_table normal = read(R"({"device": "lpddr5-6400"})").dev.energy;
  std::string text = memspec_text();
  const auto begin = text.find("\"mempowerspec\"");
  text.erase(begin, text.find("\"bankwisespec\"") - begin);
  const auto impedance = text.find("\"memimpedancespec\"");
  text = text.substr(0, text.rfind(',', impedance)) + "}}";
  const memory_config missing = read(text);
  EXPECT_TRUE(noted(missing, "mempowerspec: missing; the default energies are used"));
  EXPECT_EQ(missing.dev.energy.act_fj, normal.act_fj);
  EXPECT_EQ(missing.dev.energy.down_read_fj_per_bit, normal.down_read_fj_per_bit);
  const memory_config zero =
      read(with(text, "\"bankwisespec\"", "\"mempowerspec\": {\"vdd1\": 0, \"idd01\": 0}, \"bankwisespec\""));
  EXPECT_TRUE(noted(zero, "mempowerspec: all zero"));
  EXPECT_EQ(zero.dev.energy.core_read_fj_per_bit, normal.core_read_fj_per_bit);
}

TEST(power, a_supply_needs_every_current_the_formulas_use) {
  for (const char* name : {"idd0", "idd2n", "idd3n", "idd4r", "idd4w", "idd5", "idd5pb", "idd6", "idd2p", "idd3p"}) {
    for (const char* rail : {"1", "2h", "2l"}) {
      const std::string key = std::string(name) + rail;
      try {
        read(with(memspec_text(), "\"" + key + "\"", "\"_" + key + "\""));
        FAIL() << key << ": accepted";
      } catch (const core::config_error& error) {
        EXPECT_NE(std::string(error.what()).find("memspec.mempowerspec." + key + ": is missing; add it"),
                  std::string::npos)
            << error.what();
      }
    }
  }
  EXPECT_NO_THROW(read(with(memspec_text(), "\"idd6ds1\": 0, ", ""))) << "deep sleep is not modelled";
}

TEST(power, a_negative_energy_counts_as_nothing_and_says_so) {
  const memory_config c = read(with(memspec_text(), "\"idd4r2h\": 225e-3", "\"idd4r2h\": 5e-3"));
  EXPECT_EQ(c.dev.energy.core_read_fj_per_bit, 0U);
  EXPECT_TRUE(noted(c, "negative energy of read"));
}

}  // namespace
}  // namespace dvp::lpddr5
