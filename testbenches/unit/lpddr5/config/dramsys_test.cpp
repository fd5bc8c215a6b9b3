// DRAMSys simulation files and their parts, in the forms of several versions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "testbenches/unit/lpddr5/config/dramsys_files.h"
#include "tlm/lpddr5/config/memory_config.h"

namespace dvp::lpddr5 {
namespace {

namespace fs = std::filesystem;
using namespace testbenches;

// A folder of files that is gone with the object.
class scratch {
 public:
  scratch() : root_(fs::temp_directory_path() / ("dvp_dramsys_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    write("memspec/m.json", memspec_text());
    write("addressmapping/a.json", addressmapping_text());
    write("mcconfig/c.json", mcconfig_text());
    write("simconfig/s.json", simconfig_text());
    write("sim.json", simulation_text());
  }
  ~scratch() { fs::remove_all(root_); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::string path(const std::string& name) const { return (root_ / name).string(); }
  memory_config load(const std::string& name = "sim.json") const { return load_memory_config(path(name)); }
  std::string refusal(const std::string& name = "sim.json") const {
    try {
      load(name);
    } catch (const core::config_error& error) {
      return error.what();
    }
    return "accepted";
  }

 private:
  fs::path root_;
};

bool noted(const memory_config& config, const std::string& phrase) {
  for (const std::string& note : config.notes) {
    if (note.find(phrase) != std::string::npos) return true;
  }
  return false;
}

location decoded(const memory_config& c, std::uint64_t address) {
  return address_mapping(c.mapping, c.dev.shape, c.channels).decode(address);
}

TEST(simulation, a_set_of_files_loads_unchanged) {
  const scratch files;
  const memory_config c = files.load();
  EXPECT_EQ(c.dev.id, "test_8Gb_LPDDR5-6400");
  EXPECT_EQ(c.dev.times.tCK_fs, 1'250'000U);
  EXPECT_DOUBLE_EQ(peak_bytes_per_second(c.dev), 12.8e9);
  const std::pair<const char*, cycles> timings[] = {
      {"REFI", 3125},  {"REFIpb", 391}, {"RFCab", 168}, {"RFCpb", 96},  {"RAS", 34},   {"RPab", 17},
      {"RPpb", 15},    {"RCpb", 49},    {"RCab", 51},   {"PPD", 2},     {"RCD", 15},   {"FAW", 16},
      {"RRD", 4},      {"RL", 17},      {"RBTP", 6},    {"WL", 9},      {"WR", 28},    {"RTRS", 2},
      {"BL_n_min", 2}, {"BL_n_max", 4}, {"BL_n_L", 4},  {"BL_n_S", 2},  {"WTR_L", 10}, {"WTR_S", 5},
      {"RTW_L", 12},   {"RTW_S", 12},   {"pbR2act", 6}, {"pbR2pbR", 72}};
  for (const auto& [name, value] : timings) EXPECT_EQ(timing_value(c.dev.times, name), value) << name;
  for (const char* name : {"AAD", "WCKPST", "XP", "CSPD", "SR", "XSR"}) {
    EXPECT_GT(timing_value(c.dev.times, name), 0);
    const std::string item = std::string(name) + " " + std::to_string(*timing_value(c.dev.times, name));
    EXPECT_TRUE(noted(c, item)) << name;
  }
  EXPECT_EQ(c.dev.shape.pair_offset, 8U);
  EXPECT_EQ(c.controller.queue, queue_layout::read_write);
  EXPECT_EQ(c.controller.read_queue, 24U);
  EXPECT_EQ(c.controller.write_queue, 12U);
  EXPECT_EQ(c.controller.refresh, refresh_policy::per_bank);
  EXPECT_EQ(c.controller.refresh_postpone, 2U);
  EXPECT_EQ(c.controller.refresh_pull_in, 1U);
  EXPECT_EQ(c.controller.frontend_cycles, 2 + 3 + 4);
  EXPECT_EQ(c.controller.backend_cycles, 5 + 6 + 7);
  EXPECT_FALSE(c.controller.posted_writes);
  EXPECT_EQ(c.address_offset, 4096U);
  EXPECT_EQ(c.simulation_seconds, 1e-3);
  EXPECT_TRUE(noted(c, "memtimingspec: missing, default used: AAD 8, WCKPST 1, XP "));
  EXPECT_TRUE(noted(c, "accepted, not used here: simconfig.DatabaseRecording, simconfig.WindowSize"));
  EXPECT_FALSE(noted(c, "Debug"));
  EXPECT_EQ(decoded(c, 3U << 5).bank_group, 3U);
  ASSERT_EQ(c.traffic.size(), 2U);
  EXPECT_EQ(c.traffic[0].kind, traffic_kind::player);
  EXPECT_EQ(c.traffic[0].path, files.path("traces/t.stl"));
  EXPECT_EQ(c.traffic[0].clock_mhz, 200);
  EXPECT_EQ(c.traffic[0].data_bytes, 32U);
  const traffic_setup& g = c.traffic[1];
  EXPECT_EQ(g.kind, traffic_kind::generator);
  EXPECT_EQ(g.name, "gen0");
  EXPECT_EQ(g.requests, 1000U);
  EXPECT_EQ(g.read_share, 0.75);
  EXPECT_TRUE(g.random);
  EXPECT_EQ(g.seed, 7U);
  EXPECT_EQ(g.max_pending_reads, 8U);
  EXPECT_EQ(g.min_address, 4096U);
  EXPECT_EQ(g.max_address, 8191U);
  // What it says it used is complete: it can be read again without the files.
  const memory_config again = parse_memory_config(c.source.dump(), "again.json", "");
  EXPECT_EQ(again.source, c.source);
}

TEST(simulation, bare_names_are_found_in_the_folders_of_older_trees) {
  const scratch files;
  std::string text = simulation_text();
  text = with(with(text, "memspec/m.json", "m.json"), "addressmapping/a.json", "a.json");
  text = with(with(text, "mcconfig/c.json", "c.json"), "simconfig/s.json", "s.json");
  files.write("simulations/old.json", text);
  EXPECT_EQ(files.load("simulations/old.json").dev.times.RL, 17);
  files.write("bare.json", text);
  EXPECT_EQ(files.load("bare.json").dev.times.RL, 17);
}

TEST(simulation, older_spellings) {
  const scratch files;
  files.write("memspec/m.json", with(memspec_text(), "\"tCK\": 1.25e-9", "\"clkMhz\": 800"));
  EXPECT_EQ(files.load().dev.times.tCK_fs, 1'250'000U);
  std::string text = with(memspec_text(), "\"RCD_L\": 15, \"RCD_S\": 15", "\"RCD\": 15");
  text = with(text, "\"RTW_L_32\": 16, \"RTW_L_16\": 12,", "");
  text = with(text, "\"RTW_S_32\": 16, \"RTW_S_16\": 12,", "");
  files.write("memspec/m.json", text);
  const memory_config c = files.load();
  EXPECT_EQ(c.dev.times.RCD, 15);
  EXPECT_EQ(c.dev.times.RTW_S, 12);
  EXPECT_TRUE(noted(c, "memtimingspec: missing, default used: RTW_S_16 12, RTW_L_16 12, AAD 8"));
}

TEST(simulation, bursts_of_32_take_their_own_keys) {
  const scratch files;
  files.write("memspec/m.json", with(with(memspec_text(), "\"burstLength\": 16", "\"burstLength\": 32"),
                                     "\"maxBurstLength\": 16", "\"maxBurstLength\": 32"));
  files.write("addressmapping/a.json",
              with(with(addressmapping_text(), "[5, 6]", "[6, 7]"), "1, 2, 3, 4, 7, 8", "1, 2, 3, 4, 5, 8"));
  const timing t = files.load().dev.times;
  EXPECT_EQ(t.BL_n_min, 6);
  EXPECT_EQ(t.BL_n_L, 8);
  EXPECT_EQ(t.RTW_L, 16);
}

TEST(address_mapping, xor_in_both_forms_means_the_same) {
  const scratch files;
  files.write("addressmapping/a.json",
              with(addressmapping_text(), "\"BANK_BIT\": [13, 14]", "\"BANK_BIT\": [[13, 15], 14]"));
  const memory_config nested = files.load();
  files.write("addressmapping/a.json",
              with(addressmapping_text(), "\"BYTE_BIT\"", "\"XOR\": [{\"FIRST\": 13, \"SECOND\": 15}], \"BYTE_BIT\""));
  const memory_config pairs = files.load();
  const std::string inner = addressmapping_text();
  files.write("addressmapping/a.json",
              "{\"CONGEN\": {\"XOR\": [{\"FIRST\": 13, \"SECOND\": 15}], " + inner.substr(inner.find("\"BYTE_BIT\"")));
  const memory_config congen = files.load();
  for (std::uint64_t a = 0; a < (1U << 30); a += 104'729) {
    const location expected = decoded(nested, a);
    ASSERT_TRUE(decoded(pairs, a) == expected);
    ASSERT_TRUE(decoded(congen, a) == expected);
    ASSERT_EQ(expected.bank & 1U, ((a >> 13) ^ (a >> 15)) & 1U);
  }
}

TEST(address_mapping, burst_bits_are_byte_and_low_column_bits) {
  const scratch files;
  const memory_config plain = files.load();
  files.write("addressmapping/a.json", with(addressmapping_text(), "\"BYTE_BIT\": [0], \"COLUMN_BIT\": [1, 2, 3, 4, ",
                                            "\"BURST_BIT\": [0, 1, 2, 3, 4], \"COLUMN_BIT\": ["));
  const memory_config burst = files.load();
  for (std::uint64_t a = 0; a < (1U << 20); a += 37) ASSERT_TRUE(decoded(burst, a) == decoded(plain, a));
}

TEST(mcconfig, policies) {
  const scratch files;
  const auto policy = [&](const std::string& text) {
    files.write("mcconfig/c.json", "{\"mcconfig\": {" + text + "}}");
    return files.load();
  };
  memory_config c = policy("");
  EXPECT_EQ(c.controller.scheduler, scheduler_policy::fr_fcfs);
  EXPECT_EQ(c.controller.queue, queue_layout::bankwise);
  EXPECT_EQ(c.controller.read_queue, 8U);
  EXPECT_EQ(c.controller.refresh, refresh_policy::all_bank);
  EXPECT_EQ(c.controller.frontend_cycles, 1);
  c = policy(R"("Scheduler": "grpfrfcfswm", "SchedulerBuffer": "shared", "RequestBufferSize": 32, "HighWatermark": 20,
                "LowWatermark": 4, "PagePolicy": "CLOSEDADAPTIVE")");
  EXPECT_EQ(c.controller.scheduler, scheduler_policy::fr_fcfs_grouped);
  EXPECT_EQ(c.controller.queue, queue_layout::shared);
  EXPECT_EQ(c.controller.read_queue, 32U);
  EXPECT_EQ(c.controller.write_high, 20U);
  EXPECT_EQ(c.controller.write_low, 4U);
  EXPECT_EQ(c.controller.page, page_policy::closed_adaptive);
  EXPECT_EQ(policy(R"("RefreshPolicy": "Rankwise")").controller.refresh, refresh_policy::all_bank);
  EXPECT_EQ(policy(R"("RefreshPolicy": "NoRefresh")").controller.refresh, refresh_policy::none);
  c = policy(R"("RefreshPolicy": "Bankwise")");
  EXPECT_EQ(c.controller.refresh, refresh_policy::per_bank);
  EXPECT_EQ(c.dev.shape.pair_offset, 0U);
  c = policy(R"("PowerDownPolicy": "Staggered", "RespQueue": "Fifo", "Arbiter": "Reorder", "BlockingReadDelay": 60)");
  EXPECT_EQ(c.controller.power_down_after, 1);
  EXPECT_EQ(c.controller.self_refresh_after, 3125);
  for (const char* phrase : {"Staggered is", "RespQueue", "Arbiter", "BlockingReadDelay"})
    EXPECT_TRUE(noted(c, phrase));
}

TEST(tracesetup, kinds_without_a_type_are_told_apart) {
  const scratch files;
  files.write("sim.json", with(with(simulation_text(), "\"type\": \"player\", ", ""), "\"type\": \"generator\", ", ""));
  const memory_config c = files.load();
  EXPECT_EQ(c.traffic[0].kind, traffic_kind::player);
  EXPECT_EQ(c.traffic[1].kind, traffic_kind::generator);
}

struct fault {
  std::string file, from, to, phrase;
};

TEST(faults, name_file_key_and_remedy) {
  const std::vector<fault> faults = {
      {"memspec/m.json", "\"LPDDR5\"", "\"DDR4\"",
       "memspec.memoryType: the file is for DDR4; this model does LPDDR5 and LPDDR5X"},
      {"memspec/m.json", "\"RAS\": 34, ", "", "memspec.memtimingspec.RAS: is missing"},
      {"memspec/m.json", "\"RAS\": 34", "\"RSA\": 34", "RAS: is missing"},
      {"memspec/m.json", "\"RAS\": 34", "\"RAS\": 34, \"RSA\": 1",
       "memspec.memtimingspec.RSA: unknown key; did you mean memspec.memtimingspec.R"},
      {"memspec/m.json", "\"RAS\": 34", "\"RAS\": 35", "RC (RCpb) 49 is shorter than RAS + RP, 35 + 15"},
      {"memspec/m.json", "\"RAS\": 34", "\"RAS\": -34", "memspec.memtimingspec.RAS: -34 is negative"},
      {"memspec/m.json", "\"RAS\": 34", "\"RAS\": 4e9", "RAS of 4000000000 clocks is absurd"},
      {"memspec/m.json", "1.25e-9", "1.25", "memspec.memtimingspec.tCK: is longer than a microsecond"},
      {"memspec/m.json", "1.25e-9", "0", "memspec.memtimingspec.tCK: is zero"},
      {"memspec/m.json", "1.25e-9", "0.15e-9", "it is the period of CK in seconds, not of WCK"},
      {"memspec/m.json", "\"tCK\"", "\"clkMhz\": 800, \"tCK\"", "clkMhz: stands beside tCK"},
      {"memspec/m.json", "\"WCK2CK\": 4", "\"WCK2CK\": 3", "3 is no ratio"},
      {"memspec/m.json", "\"dataRate\": 2", "\"dataRate\": 4", "WCK2CK: does not fit memarchitecturespec.dataRate 4"},
      {"memspec/m.json", "\"nbrOfColumns\": 1024", "\"nbrOfColumns\": 1000", "1000 columns are not a power of two"},
      {"memspec/m.json", "\"nbrOfColumns\": 1024", "\"nbrOfColumns\": 8",
       "8 columns are not a multiple of the burst length 16"},
      {"memspec/m.json", "\"nbrOfRows\": 32768", "\"nbrOfRows\": 49152", "49152 rows are not a power of two"},
      {"memspec/m.json", "\"nbrOfBanks\": 16, \"nbrOfBankGroups\": 4", "\"nbrOfBanks\": 8, \"nbrOfBankGroups\": 1",
       "8B mode has no bursts of 16"},
      {"memspec/m.json", "\"nbrOfBankGroups\": 4", "\"nbrOfBankGroups\": 3", "3 does not divide the 16 banks"},
      {"memspec/m.json", "\"nbrOfBankGroups\": 4", "\"nbrOfBankGroups\": 2", "2 groups of 8 banks are no LPDDR5"},
      {"memspec/m.json", "\"burstLength\": 16", "\"burstLength\": 8", "burst length of 8 is no LPDDR5"},
      {"memspec/m.json", "\"per2BankOffset\": 8", "\"per2BankOffset\": 5", "banks 5 apart are no pairs"},
      {"memspec/m.json", "\"per2BankOffset\": 8", "\"per2BankOffset\": 4",
       "banks 4 apart are no pairs of 16 banks; give half the banks"},
      {"memspec/m.json", "\"idd4r1\": 6e-3, ", "", "memspec.mempowerspec.idd4r1: is missing; add it"},
      {"memspec/m.json", "\"idd3p2h\": 8e-3,", "", "memspec.mempowerspec.idd3p2h: is missing; add it"},
      {"memspec/m.json", "\"vdd1\": 1.8", "\"vdd1\": 1800", "memspec.mempowerspec.vdd1: 1800 is out of range"},
      {"memspec/m.json", "\"idd6ds1\"", "\"idd6_ds1\"",
       "memspec.mempowerspec.idd6_ds1: unknown key; did you mean memspec.mempowerspec.idd6ds1?"},
      {"memspec/m.json", "\"rdq_R_eq\": 50", "\"rdq_R_eq\": 0", "rdq_R_eq: a terminated pin needs a resistance"},
      {"addressmapping/a.json", "\"BYTE_BIT\": [0]", "\"BYTE_BIT\": [0, 1]", "byte has 2 bits, but 2 values need 1"},
      {"addressmapping/a.json", "[13, 14]", "[13, 13]", "address bit 13 is used twice"},
      {"addressmapping/a.json", "\"BANK_BIT\"", "\"BANKS_BIT\"",
       "addressmapping.BANKS_BIT: unknown key; did you mean addressmapping.BANK_BIT?"},
      {"addressmapping/a.json", "[13, 14]", "[13, \"14\"]", "addressmapping.BANK_BIT[1]: is not an address bit"},
      {"addressmapping/a.json", "\"BYTE_BIT\"", "\"STACK_BIT\": [30], \"BYTE_BIT\"", "this mapping is for HBM"},
      {"mcconfig/c.json", "\"FrFcfs\"", "\"FrFcfsGrp\"",
       "mcconfig.Scheduler: FrFcfsGrp: this model does not group row hits"},
      {"mcconfig/c.json", "\"FrFcfs\"", "\"FrFcfss\"",
       "mcconfig.Scheduler: \"FrFcfss\" is not known; did you mean FrFcfs?"},
      {"mcconfig/c.json", "\"Oldest\"", "\"Strict\"", "mcconfig.CmdMux: Strict: this model issues the oldest"},
      {"mcconfig/c.json", "\"Per2Bank\"", "\"SameBank\"", "LPDDR5 has no same-bank refresh"},
      {"mcconfig/c.json", "\"RefreshManagement\": false", "\"RefreshManagement\": true",
       "has no refresh management commands"},
      {"mcconfig/c.json", "\"PagePolicy\"", "\"PagePolicies\"",
       "mcconfig.PagePolicies: unknown key; did you mean mcconfig.PagePolicy?"},
      {"simconfig/s.json", "\"NoStorage\"", "\"Errors\"", "simconfig.StoreMode: \"Errors\" is not known"},
      {"simconfig/s.json", "\"WindowSize\"", "\"WindowSizes\"", "did you mean simconfig.WindowSize?"},
      {"sim.json", "memspec/m.json", "memspec/n.json", "simulation.memspec: there is no file"},
      {"sim.json", "\"mcconfig\"", "\"mccnfig\"", "simulation.mcconfig: is missing"},
      {"sim.json", "\"simulationid\"", "\"simulation_id\"", "unknown key; did you mean simulation.simulationid?"},
      {"sim.json", "\"type\": \"player\"", "\"type\": \"rowhammer\"",
       "simulation.tracesetup[0].type: this model plays no rowhammer"},
      {"sim.json", "\"type\": \"player\"", "\"states\": []", "this model plays no statemachine"},
      {"sim.json", "\"rwRatio\": 0.75", "\"rwRatio\": 75",
       "simulation.tracesetup[1].rwRatio: 75 is out of range; give a number from 0 to 1"},
      {"sim.json", "8191", "191", "maxAddress: is below minAddress"},
      {"sim.json", "\"memspec/m.json\"", "\"simconfig/s.json\"",
       "memspec: is missing; the file of a memspec has it as its first key"}};
  for (const fault& f : faults) {
    const scratch files;
    std::ifstream in(files.path(f.file));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    files.write(f.file, with(text, f.from, f.to));
    const std::string said = files.refusal();
    EXPECT_NE(said.find(f.phrase), std::string::npos) << f.file << " with " << f.to << "\n  said: " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
    EXPECT_EQ(said.rfind(fs::temp_directory_path().string(), 0), 0U) << "does not begin with a file: " << said;
  }
}

}  // namespace
}  // namespace dvp::lpddr5
