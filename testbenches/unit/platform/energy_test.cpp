// Energy of a run from counters written out here, against the sums done by hand.
#include "tlm/platform/energy.h"

#include <gtest/gtest.h>

#include "tlm/platform/config.h"
#include "tlm/platform/files.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;

constexpr std::uint64_t duration_ps = 2'000'000;

ordered_json counted() {
  return {{"npu",
           {{"work",
             {{"macs_bf16", 10},
              {"macs_q8", 100},
              {"macs_q4", 1000},
              {"macs_q2", 10000},
              {"vector_passes", 7},
              {"sampling_elements", 5},
              {"scratchpad_bytes", 30}}}}},
          {"memory",
           {{"energy",
             {{"activate_pj_modelled", 1.0},
              {"refresh_pj_modelled", 2.0},
              {"background_pj_modelled", 4.0},
              {"core_pj_modelled", 8.0},
              {"down_pj_modelled", 16.0},
              {"convert_pj_modelled", 32.0},
              {"total_pj_modelled", 63.0}}}}},
          {"cpu", {{"busy_ps", 500'000}}},
          {"cpu1", {{"busy_ps", 0}}}};
}

const std::vector<std::string> prices{
    "energy.mac_pj.bf16=4",  "energy.mac_pj.q8=3",   "energy.mac_pj.q4=2",
    "energy.mac_pj.q2=1",    "energy.vector_pj=10",  "energy.sampling_pj=100",
    "energy.cpu_busy_mw=8",  "energy.cpu_idle_mw=1", "energy.scratchpad_pj_per_byte=0.5",
    "energy.npu_static_mw=3"};

platform_config priced(const std::string& name, std::vector<std::string> more = {}) {
  more.insert(more.end(), prices.begin(), prices.end());
  return load_config(name, more);
}

double sum_of(const ordered_json& parts) {
  double sum = 0;
  for (const auto& part : parts) sum += part.get<double>();
  return sum;
}

TEST(energy, counts_times_prices_part_by_part) {
  const ordered_json energy = energy_of(priced("reference"), counted(), duration_ps);
  const ordered_json& npu = energy["npu_pj"];
  EXPECT_DOUBLE_EQ(npu["parts"]["macs"], 10 * 4 + 100 * 3 + 1000 * 2 + 10000 * 1);
  EXPECT_DOUBLE_EQ(npu["parts"]["vector"], 7 * 10 + 5 * 100);
  EXPECT_DOUBLE_EQ(npu["parts"]["scratchpad"], 15);
  EXPECT_DOUBLE_EQ(npu["parts"]["static"], 3 * 2000.0) << "1 mW for 1 us is 1000 pJ";
  EXPECT_DOUBLE_EQ(npu["value"], sum_of(npu["parts"]));
  EXPECT_DOUBLE_EQ(energy["cpu_pj"]["value"], 500 * 8 + 1500 * 1 + 2000 * 1);

  const ordered_json& system = energy["system_pj"];
  EXPECT_DOUBLE_EQ(system["parts"]["dram_array"], 8 + 1);
  EXPECT_DOUBLE_EQ(system["parts"]["dram_io"], 16);
  EXPECT_DOUBLE_EQ(system["parts"]["conversion"], 32);
  EXPECT_DOUBLE_EQ(system["parts"]["compute"], 12340 + 570);
  EXPECT_DOUBLE_EQ(system["parts"]["sram"], 15);
  EXPECT_DOUBLE_EQ(system["parts"]["static"], 4 + 2 + 6000);
  EXPECT_DOUBLE_EQ(system["parts"]["cpu"], 7500);
  EXPECT_DOUBLE_EQ(system["value"], sum_of(system["parts"]));
  EXPECT_DOUBLE_EQ(system["value"], energy["dram_total_pj"]["value"].get<double>() + npu["value"].get<double>() +
                                        energy["cpu_pj"]["value"].get<double>())
      << "nothing is lost and nothing counted twice";
  EXPECT_DOUBLE_EQ(energy["dram_movement_pj"]["value"], 8 + 16 + 32);
  for (const auto& entry : energy) {
    EXPECT_EQ(entry["kind"], "modelled");
    EXPECT_FALSE(entry["formula"].get<std::string>().empty());
  }
}

TEST(energy, a_memory_of_one_bandwidth_tells_movement_alone) {
  const ordered_json energy = energy_of(priced("fixed"), counted(), duration_ps);
  EXPECT_FALSE(energy.contains("dram_total_pj"));
  EXPECT_DOUBLE_EQ(energy["dram_movement_pj"]["value"], 63);
}

TEST(energy, harts_that_tell_their_sleep_worked_the_rest_of_the_time) {
  ordered_json figures = counted();
  figures.erase("cpu1");
  figures["cpu"] = {{"sleep_ps", 1'500'000}};
  EXPECT_DOUBLE_EQ(energy_of(priced("reference"), figures, duration_ps)["cpu_pj"]["value"], 500 * 8 + 1500 * 1);
  figures["cpu"] = {{"sleep_ps", 9'000'000}};
  EXPECT_DOUBLE_EQ(energy_of(priced("reference"), figures, duration_ps)["cpu_pj"]["value"], 2000 * 1)
      << "asleep for longer than the request took";
}

TEST(energy, an_npu_that_is_off_leaks_nothing) {
  const platform_config config = priced("reference", {"decode.engine=cpu"});
  EXPECT_DOUBLE_EQ(energy_of(config, counted(), duration_ps)["npu_pj"]["parts"]["static"], 0);
}

TEST(energy, bad_prices_are_refused_by_their_key) {
  for (const auto& [assignment, key] :
       std::vector<std::pair<std::string, std::string>>{{"energy.vector_pj=-1", "energy.vector_pj"},
                                                        {"energy.vector_pj=\"1\"", "energy.vector_pj"},
                                                        {"energy.npu_static_mw=1e300", "energy.npu_static_mw"},
                                                        {"energy.mac_pj={}", "energy.mac_pj"},
                                                        {"energy.mac_pj.q3=1", "energy.mac_pj.q3"},
                                                        {"energy=7", "energy"}}) {
    try {
      load_config("fixed", {assignment});
      ADD_FAILURE() << assignment << " was accepted";
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find(key), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace dvp::platform
