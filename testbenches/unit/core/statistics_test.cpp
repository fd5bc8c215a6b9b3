#include "tlm/core/statistics.h"

#include <gtest/gtest.h>

#include <limits>

namespace dvp::core {
namespace {

TEST(statistics, tree_depends_on_figures_and_not_on_order) {
  statistics one;
  one.add("npu.dma.bytes_read", 3);
  one.add("npu.dma_store", 1);
  one.set_gauge("memory.energy.total_pj", 0.5);
  one.add("npu.dma.bytes_read", 4);
  std::uint64_t& cycles = one.counter("npu.cycles");
  statistics two;
  two.add("npu.cycles", 11);
  two.add("npu.dma_store", 1);
  for (int i = 0; i < 1000; ++i) one.add("many.n" + std::to_string(i), 1);
  for (int i = 999; i >= 0; --i) two.add("many.n" + std::to_string(i), 1);
  two.set_gauge("memory.energy.total_pj", 0.5);
  two.set("npu.dma.bytes_read", 7);
  cycles += 11;  // the reference outlives a thousand later figures

  EXPECT_EQ(one.tree().dump(), two.tree().dump());
  nlohmann::ordered_json tree = one.tree();
  tree.erase("many");
  EXPECT_EQ(tree.dump(),
            R"({"memory":{"energy":{"total_pj":0.5}},"npu":{"cycles":11,"dma":{"bytes_read":7},"dma_store":1}})");
  EXPECT_EQ(one.count_of("npu.dma.bytes_read"), 7U);
  EXPECT_EQ(one.count_of("npu.dma"), 0U);
  EXPECT_EQ(one.gauge_of("memory.energy.total_pj"), 0.5);
}

TEST(statistics, counters_keep_64_bits_and_gauges_that_are_no_number_become_null) {
  statistics figures;
  figures.set("big", std::numeric_limits<std::uint64_t>::max());
  figures.set_gauge("ratio", std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(figures.tree().dump(), R"({"big":18446744073709551615,"ratio":null})");
}

TEST(statistics, a_path_is_one_thing) {
  statistics figures;
  figures.add("a.b", 1);
  figures.set_gauge("g", 1);
  EXPECT_THROW(figures.add("a", 1), std::invalid_argument);
  EXPECT_THROW(figures.add("a.b.c", 1), std::invalid_argument);
  EXPECT_THROW(figures.set_gauge("a.b", 1), std::invalid_argument);
  EXPECT_THROW(figures.add("g", 1), std::invalid_argument);
  for (const char* path : {"", ".", "x.", ".x", "x..y"}) EXPECT_THROW(figures.add(path, 1), std::invalid_argument);
  figures.add("a_b", 1);  // sorts between "a" and its children in plain byte order
  EXPECT_THROW(figures.add("a", 1), std::invalid_argument);
  EXPECT_EQ(figures.tree().dump(), R"({"a":{"b":1},"a_b":1,"g":1.0})");
}

}  // namespace
}  // namespace dvp::core
