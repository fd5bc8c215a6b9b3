// Our own form of a memory configuration.
#include "tlm/lpddr5/config/memory_config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"

namespace dvp::lpddr5 {
namespace {

using nlohmann::ordered_json;

memory_config read(const std::string& text) {
  return parse_memory_config(text, "m.json", "");
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const core::config_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(defaults, one_channel_of_the_device_named) {
  const memory_config c = read(R"({"device": "lpddr5-6400"})");
  EXPECT_EQ(c.dev.id, "lpddr5-6400");
  EXPECT_EQ(c.channels, 1U);
  EXPECT_TRUE(c.dev.shape.wck_always_on);
  EXPECT_TRUE(c.notes.empty());
  EXPECT_EQ(c.controller.scheduler, scheduler_policy::fr_fcfs);
  EXPECT_EQ(c.controller.page, page_policy::open);
  EXPECT_EQ(c.controller.refresh, refresh_policy::all_bank);
  EXPECT_EQ(c.controller.write_high, 24U);
  EXPECT_EQ(c.controller.write_low, 8U);
  EXPECT_EQ(c.controller.starvation_limit, 4096);
  EXPECT_EQ(c.source["device"], "lpddr5-6400");
  const address_mapping mapping(c.mapping, c.dev.shape, c.channels);
  EXPECT_EQ(mapping.bytes(), 1U << 30);
  EXPECT_NE(mapping.decode(0).bank_group, mapping.decode(32).bank_group);
}

TEST(every_key, arrives_where_it_belongs) {
  const memory_config c = read(testbenches::every_key_text());
  EXPECT_EQ(c.dev.shape.rows, 65536U);
  EXPECT_EQ(c.dev.shape.burst_length, 32U);
  EXPECT_EQ(c.dev.shape.width_bits, 32U);
  EXPECT_EQ(c.dev.shape.ranks, 2U);
  EXPECT_FALSE(c.dev.shape.wck_always_on);
  EXPECT_EQ(c.channels, 4U);
  EXPECT_EQ(c.dev.times.RCD, 16);
  EXPECT_EQ(c.dev.times.WR, 30);
  EXPECT_EQ(c.dev.times.RL, 17);
  const controller_config& k = c.controller;
  EXPECT_EQ(k.scheduler, scheduler_policy::fr_fcfs_grouped);
  EXPECT_EQ(k.page, page_policy::closed_adaptive);
  EXPECT_EQ(k.refresh, refresh_policy::per_bank);
  EXPECT_EQ(k.refresh_postpone, 3U);
  EXPECT_EQ(k.refresh_pull_in, 4U);
  EXPECT_EQ(k.queue, queue_layout::read_write);
  EXPECT_EQ(k.read_queue, 40U);
  EXPECT_EQ(k.write_queue, 20U);
  EXPECT_EQ(k.write_high, 18U);
  EXPECT_EQ(k.write_low, 2U);
  EXPECT_FALSE(k.posted_writes);
  EXPECT_FALSE(k.coalesce_writes);
  EXPECT_EQ(k.starvation_limit, 99);
  EXPECT_EQ(k.power_down_after, 50);
  EXPECT_EQ(k.self_refresh_after, 5000);
  EXPECT_EQ(k.frontend_cycles, 6);
  EXPECT_EQ(k.backend_cycles, 7);
  EXPECT_EQ(k.stream_bytes, 65536U);
  EXPECT_EQ(k.tagged.layout, data_layout::bitplane);
  EXPECT_EQ(k.tagged.core_feed, 4U);
  EXPECT_EQ(k.tagged.convert_cycles, 2);
  EXPECT_EQ(k.tagged.scales, scale_place::in_burst);
  EXPECT_EQ(k.tagged.scale_group, 64U);
  EXPECT_EQ(k.tagged.scale_bits, 8U);
  const energy_table& e = c.dev.energy;
  EXPECT_EQ(e.act_fj, 1'500'000U);
  EXPECT_EQ(e.ref_all_fj, 20'000'000U);
  EXPECT_EQ(e.ref_bank_fj, 3'000'000U);
  EXPECT_EQ(e.core_read_fj_per_bit, 2000U);
  EXPECT_EQ(e.core_write_fj_per_bit, 2100U);
  EXPECT_EQ(e.down_read_fj_per_bit, 1000U);
  EXPECT_EQ(e.down_write_fj_per_bit, 1100U);
  EXPECT_EQ(e.convert_fj_per_element[4], 500U);
  EXPECT_EQ(e.convert_fj_per_element[2], 250U);
  EXPECT_EQ(e.active_standby_uw, 10'000U);
  EXPECT_EQ(e.precharge_standby_uw, 9'000U);
  EXPECT_EQ(e.active_power_down_uw, 3'000U);
  EXPECT_EQ(e.precharge_power_down_uw, 2'000U);
  EXPECT_EQ(e.self_refresh_uw, 500U);
  EXPECT_NE(e.basis.find("m.json: energy"), std::string::npos) << e.basis;
  const address_mapping mapping(c.mapping, c.dev.shape, 4);
  EXPECT_EQ(mapping.decode(4096).channel, 1U);
  EXPECT_EQ(mapping.decode(4095).channel, 0U);
}

TEST(mapping, bits_by_hand) {
  const std::string bits = ordered_json::parse(testbenches::addressmapping_text())["addressmapping"].dump();
  const memory_config c = read(R"({"device": "lpddr5-6400", "mapping": {"bits": )" + bits + "}}");
  const address_mapping mapping(c.mapping, c.dev.shape, 1);
  const location w = mapping.decode((5ULL << 15) | (2U << 13) | (3U << 5) | (1U << 7) | 1);
  EXPECT_EQ(w.row, 5U);
  EXPECT_EQ(w.bank, 2U);
  EXPECT_EQ(w.bank_group, 3U);
  EXPECT_EQ(w.column, 16U);
  EXPECT_EQ(w.byte, 1U);
}

TEST(memspec, inline_instead_of_a_device) {
  const memory_config c = read(testbenches::with(testbenches::memspec_text(), R"({"memspec": {)",
                                                 R"({"channels": 2, "controller": {"page": "closed"}, "memspec": {)"));
  EXPECT_EQ(c.dev.id, "test_8Gb_LPDDR5-6400");
  EXPECT_EQ(c.channels, 2U);
  EXPECT_EQ(c.dev.times.RL, 17);
  EXPECT_EQ(c.controller.page, page_policy::closed);
}

TEST(builtin, every_shipped_configuration_loads_by_name) {
  const std::pair<const char*, double> peaks[] = {
      {"lpddr5-5500-x16", 11e9}, {"lpddr5-6400-x16", 12.8e9}, {"lpddr5x-8533-x16", 17.0667e9},
      {"nano-256dq", 204.8e9},   {"nano-64dq", 51.2e9},       {"nx-128dq", 102.4e9},
      {"nx-512dq", 409.6e9}};
  std::vector<std::string> names;
  for (const auto& [name, peak] : peaks) {
    names.emplace_back(name);
    const memory_config c = load_memory_config(name);
    EXPECT_NEAR(peak_bytes_per_second(c.dev) * c.channels, peak, 1e6) << name;
    EXPECT_TRUE(c.notes.empty()) << name;
    const memory_config file = load_memory_config("tlm/lpddr5/config/configs/" + std::string(name) + ".json");
    EXPECT_EQ(file.source, c.source) << name;
  }
  EXPECT_EQ(builtin_memories(), names);
}

TEST(faults, are_told_in_one_sentence_with_file_key_and_remedy) {
  const auto device = [](const std::string& more) { return R"({"device": "lpddr5-6400", )" + more + "}"; };
  const std::pair<std::string, std::string> cases[] = {
      {"", "m.json: is not JSON at line 1, column 1"},
      {"{\"device\": \"lpddr5-6400\",\n \"ranks\": }", "m.json: is not JSON at line 2, column 11"},
      {"[]", "m.json: [] is not an object"},
      {"{}", "m.json: device: is missing; add it"},
      {R"({"device": 5})", "m.json: device: 5 is not a text"},
      {R"({"device": "lpddr5-6500"})",
       "m.json: device: there is no built-in device \"lpddr5-6500\"; did you mean lpddr5-"},
      {device(R"("rnaks": 2)"), "m.json: rnaks: unknown key; did you mean ranks?"},
      {device(R"("ranks": 2, "ranks": 2)"), "the key appears twice"},
      {device(R"("ranks": 2.5)"), "m.json: ranks: 2.5 is not a whole number"},
      {device(R"("ranks": -1)"), "m.json: ranks: -1 is negative"},
      {device(R"("ranks": "2")"), "m.json: ranks: \"2\" is not a number"},
      {device(R"("ranks": 3)"), "m.json: ranks: 3 is not 1, 2 or 4"},
      {device(R"("channels": 3)"), "channels are not a power of two"},
      {device(R"("channels": 0)"), "m.json: channels: 0 is out of range; give a whole number, 1 to 1024"},
      {device(R"("bank_mode": "8B", "burst_length": 16)"), "m.json: burst_length: 8B mode has no bursts of 16"},
      {device(R"("bank_mode": "BGG")"), "m.json: bank_mode: \"BGG\" is not known; did you mean BG?"},
      {device(R"("wck": "sometimes")"), "it takes one of always_on, on_demand"},
      {device(R"("controller": {"schedular": "fifo"})"),
       "m.json: controller.schedular: unknown key; did you mean controller.scheduler?"},
      {device(R"("controller": {"page": "opened"})"),
       "m.json: controller.page: \"opened\" is not known; did you mean open?"},
      {device(R"("controller": {"posted_writes": 1})"), "m.json: controller.posted_writes: 1 is not true or false"},
      {device(R"("controller": {"refresh_postpone": 9})"), "controller.refresh_postpone: 9 is out of range"},
      {device(R"("controller": {"scheduler": "fr_fcfs_grouped", "write_high": 8, "write_low": 8})"),
       "m.json: controller: the low watermark 8 is not below the high one, 8"},
      {device(R"("controller": {"scheduler": "fr_fcfs_grouped", "write_high": 40})"), "writes would never drain"},
      {device(R"("controller": [])"), "m.json: controller: [] is not an object"},
      {device(R"("tagged": {"core_feed": 0})"),
       "m.json: tagged.core_feed: 0 is out of range; give a whole number, 1 to 16"},
      {device(R"("energy": {"activate_nj": -1})"), "m.json: energy.activate_nj: -1 is out of range"},
      {device(R"("energy": {"activate_pj": 1})"), "did you mean energy.activate_nj?"},
      {device(R"("mapping": {"order": "row-column"})"),
       "m.json: mapping: address mapping: there is no order \"row-column\""},
      {device(R"("mapping": {"interleave_bytes": 16})"), "at least one burst, 32 bytes"},
      {device(R"("mapping": {"bits": {"ROW_BIT": [1]}})"), "byte has 0 bits, but 2 values need 1"},
      {device(R"("mapping": {"bits": {"ROW_BIT": [-1]}})"), "m.json: mapping.bits.ROW_BIT[0]: is not an address bit"},
      {device(R"("mapping": {"bits": {"ROW_BIT": [[]], "XOR": [{"FIRST": 1, "SECOND": 2}]}})"),
       "m.json: mapping.bits.ROW_BIT[0]: is made of no address bit"},
      {device(R"("mapping": {"bits": {"ROWS": [1]}})"), "unknown key"},
      {device(R"("timing": {"RC": 1})"), "m.json: timing.RC: unknown key"},
      {device(R"("timing": {"RCpb": 48})"), "RC (RCpb) 48 is shorter than RAS + RP, 34 + 15"},
      {device(R"("timing": {"FAW": 3})"), "FAW 3 is shorter than RRD 4"},
      {device(R"("timing": {"RL": 0})"), "RL is 0 clocks"},
      {device(R"("timing": {"REFI": 168})"), "REFI 168 is not longer than RFCab 168"},
      {device(R"("timing": {"REFIpb": 72})"), "REFIpb 72 is not longer than pbR2pbR 72"},
      {device(R"("timing": {"REFIpb": 0}, "controller": {"refresh": "per_bank"})"), "per-bank refresh needs REFIpb"},
      {device(R"("timing": {"pbR2pbR": 390, "REFI": 3000}, "controller": {"refresh": "per_bank"})"),
       "per-bank refresh of 8 banks or pairs in a REFI of 3000 clocks is closer than"},
      {device(R"("timing": {"RPab": 14})"), "RPab 14 is shorter than RPpb 15"},
      {device(R"("timing": {"BL_n_min": 1})"), "data would be faster than the pins"},
      {device(R"("timing": {"BL_n_S": 1})"), "lets bursts collide"},
      {device(R"("timing": {"RCD": 1})"), "leaves no time for ACT-1 and ACT-2"},
      {device(R"("timing": {"RCD": 40})"), "RAS 34 is shorter than RCD 40"},
      {device(R"("timing": {"RL": 30})"), "RTW of 12 clocks lets a write's data meet a read's"},
      {device(R"("timing": {"REFI": 220, "REFIpb": 0})"),
       "REFI of 220 clocks leaves no room for accesses beside refresh"},
      {device(R"("timing": {"REFI": 955})"), "give at least 956"},
      {device(R"("timing": {"REFI": 170})"), "REFIpb of 391 clocks is longer than REFI 170"},
      {device(R"("timing": {"RCD": 4000, "RAS": 4000, "RCpb": 4015})"), "RAS of 4000 clocks is longer than REFI 3125"},
      {device(R"("timing": {"RFCpb": 3200}, "controller": {"refresh": "per_bank"})"), "RFCpb of 3200 clocks is longer"},
      {device(R"("timing": {"RFCpb": 1600}, "controller": {"refresh": "per_bank"})"),
       "REFIpb of 391 clocks refreshes a bank every 3125 and leaves no room for its accesses"},
      {device(R"("timing": {"REFIpb": 100, "RFCpb": 1000})"), "a bank every 800 and leaves no room"},
      {device(R"("timing": {"REFIpb": 73, "RFCpb": 250})"), "give at least 80"},
      {device(R"("timing": {"RBTP": 1000})"), "REFI of 3125 clocks leaves no room"},
      {device(R"("timing": {"FAW": 9999999})"), "FAW of 9999999 clocks is longer than REFI 3125"},
      {device(R"("timing": {"PPD": 100000})"), "PPD of 100000 clocks is longer"},
      {device(R"("timing": {"WL": 100000})"), "WL of 100000 clocks is longer"},
      {device(R"("timing": {"RCpb": 760})"), "REFI of 3125 clocks leaves no room"},
      {device(R"("timing": {"PPD": 60})"), "PPD of 60 clocks keeps the banks from opening and closing"},
      {device(R"("timing": {"RRD": 49, "FAW": 49})"), "RRD of 49 clocks keeps"},
      {device(R"("timing": {"FAW": 782, "REFIpb": 0})"), "FAW of 782 clocks keeps"},
      {device(R"("timing": {"FAW": 391})"),
       "FAW of 391 clocks keeps the banks from opening and closing between "
       "refreshes; give at most 390"},
      {device(R"("timing": {"BL_n_L": 13})"), "BL_n_L of 13 clocks is longer than a read and a write of a bank group"},
      {device(R"("timing": {"RRD": 0})"), "RRD is 0 clocks"},
      {device(R"("timing": {"PPD": 0})"), "PPD is 0 clocks"},
      {device(R"("memspec": "x.json")"), "m.json: device: stands beside memspec"},
      {R"({"memspec": "no/such.json"})", "m.json: memspec: there is no file no/such.json"},
      {R"({"memspec": 5})", "m.json: memspec: is neither an object nor the name of a file"},
      {R"({"memspec": {}, "ranks": 2})", "m.json: ranks: belongs to a built-in device"},
      {R"({"mcconfig": {}})", "m.json: mcconfig: is a part of a DRAMSys configuration"},
      {std::string(100, '[') + std::string(100, ']'), "m.json: nests deeper than 64"},
      {"{\"device\": \"a\\nb\"}", "there is no built-in device"}};
  for (const auto& [text, phrase] : cases) {
    const std::string said = refusal(text);
    EXPECT_NE(said.find(phrase), std::string::npos) << text << "\n  said: " << said;
    EXPECT_EQ(said.rfind("m.json: ", 0), 0U) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(notes, an_order_that_leaves_bursts_of_q4_unfilled_is_told) {
  const auto noted = [](const std::string& order, const std::string& more) {
    const memory_config c =
        read(R"({"device": "lpddr5-6400", "mapping": {"order": ")" + order + R"("}, )" + more + "}");
    if (c.notes.empty()) return false;
    EXPECT_EQ(c.notes.size(), 1U);
    EXPECT_NE(c.notes[0].find("use order row-bank-column-group-quad-channel"), std::string::npos) << c.notes[0];
    return true;
  };
  const std::string feed = R"("tagged": {"core_feed": 2})";
  EXPECT_TRUE(noted("row-bank-column-group-channel", feed));
  EXPECT_TRUE(noted("row-column-bank-channel", feed));
  EXPECT_TRUE(noted("row-bank-column-group-channel", feed + R"(, "channels": 4)"));
  EXPECT_FALSE(noted("row-bank-column-group-quad-channel", feed));
  EXPECT_FALSE(noted("row-bank-column-group-quad-channel", feed + R"(, "channels": 4)"));
  EXPECT_FALSE(noted("row-bank-column-channel", feed));
  EXPECT_FALSE(noted("row-bank-column-group-channel", R"("channels": 1)"));
  EXPECT_FALSE(noted("row-bank-column-group-channel", R"("tagged": {"core_feed": 2, "layout": "bitplane"})"));
}

TEST(faults, a_name_that_is_neither_file_nor_built_in) {
  try {
    load_memory_config("nano-65dq");
    FAIL() << "accepted";
  } catch (const core::config_error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean nano-64dq?"), std::string::npos) << error.what();
  }
  EXPECT_THROW(load_memory_config("tlm"), core::config_error) << "a folder";
}

}  // namespace
}  // namespace dvp::lpddr5
