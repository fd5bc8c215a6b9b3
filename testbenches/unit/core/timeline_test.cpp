// The timeline file, read back by an independent JSON parser.
#include "tlm/core/timeline.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "tlm/core/merged_slices.h"
#include "tlm/core/read_rates.h"

namespace dvp::core {
namespace {

using nlohmann::json;
using sc_core::sc_time;
using test::scratch_file;

sc_time ns(double value) {
  return {value, sc_core::SC_NS};
}
sc_time ps(double value) {
  return {value, sc_core::SC_PS};
}

TEST(timeline, file_says_what_was_told) {
  const scratch_file file("timeline.json");
  {
    timeline out(file.path());
    ASSERT_TRUE(out.on());
    const std::uint32_t array = out.track("npu", "array");
    const std::uint32_t cpu = out.track("system", "cpu");
    const std::uint32_t vector = out.track("npu", "vector");
    EXPECT_EQ(out.track("npu", "array"), array);
    EXPECT_NE(array, vector);
    out.slice(array, "gemm", ns(1000), ns(3000.5), {{"rows", std::uint64_t{16}}, {"format", "q8"}, {"load", 0.25}});
    out.slice(array, "fold", ps(1000001), ps(1000003));
    out.slice(cpu, "quote \" backslash \\ newline \n bad \xff", ns(0), ns(0));
    out.counter(vector, "queue", ns(2), 3.5);
    out.instant(cpu, "irq", ns(7), {{"nan", std::numeric_limits<double>::quiet_NaN()}});
    EXPECT_TRUE(out.close());
    out.slice(array, "late", ns(1), ns(2));
    EXPECT_EQ(out.track("npu", "late"), 0U);
  }
  std::map<std::string, std::string> process_of_track;
  std::map<int, std::string> processes;
  std::map<std::string, json> named;
  const json parsed = json::parse(file.text());
  for (const json& event : parsed.at("traceEvents")) {
    const std::string name = event.at("name");
    if (event.at("ph") == "M") {
      if (name == "process_name") processes[event.at("pid")] = event.at("args").at("name");
      if (name == "thread_name") process_of_track[event.at("args").at("name")] = processes.at(event.at("pid"));
    } else {
      named[name] = event;
    }
  }
  EXPECT_EQ(process_of_track,
            (std::map<std::string, std::string>{{"array", "npu"}, {"vector", "npu"}, {"cpu", "system"}}));
  EXPECT_EQ(named.size(), 5U);
  const json& gemm = named.at("gemm");
  EXPECT_EQ(gemm.at("ph"), "X");
  EXPECT_EQ(gemm.at("ts"), 1.0);
  EXPECT_EQ(gemm.at("dur"), 2.0005);
  EXPECT_EQ(gemm.at("args"), json::parse(R"({"rows":16,"format":"q8","load":0.25})"));
  EXPECT_EQ(named.at("fold").at("ts"), 1.000001);
  EXPECT_EQ(named.at("fold").at("dur"), 0.000002);
  EXPECT_EQ(named.at("queue").at("ph"), "C");
  EXPECT_EQ(named.at("queue").at("args").at("value"), 3.5);
  EXPECT_TRUE(named.at("irq").at("args").at("nan").is_null());
}

TEST(timeline, many_events_stay_in_the_file_in_order_nested_and_equal_from_run_to_run) {
  const scratch_file files[2] = {scratch_file("a.json"), scratch_file("b.json")};
  for (const scratch_file& file : files) {
    timeline out(file.path());
    const std::uint32_t track = out.track("p", "t");
    for (int i = 0; i < 5000; ++i) {
      out.slice(track, "outer", ns(100 * i), ns(100 * i + 90));
      out.slice(track, "inner", ns(100 * i), ns(100 * i + 30));
      out.slice(track, "inner", ns(100 * i + 30), ns(100 * i + 90));
    }
    EXPECT_GT(std::filesystem::file_size(file.path()), 500'000U) << "events were held back in memory";
  }  // never closed by hand
  EXPECT_EQ(files[0].text(), files[1].text());

  std::vector<double> open_until;
  double last_begin = -1;
  int slices = 0;
  for (const json& event : test::timeline_slices(files[0].text())) {
    ++slices;
    const double begin = std::round(event.at(1).get<double>() * 1e6);
    const double end = begin + std::round(event.at(2).get<double>() * 1e6);
    ASSERT_GE(begin, last_begin);
    last_begin = begin;
    while (!open_until.empty() && open_until.back() <= begin) open_until.pop_back();
    ASSERT_TRUE(open_until.empty() || end <= open_until.back()) << "slice at " << begin << " ps crosses its parent";
    open_until.push_back(end);
  }
  EXPECT_EQ(slices, 15000);
}

TEST(timeline, off_and_unwritable) {
  timeline off;
  EXPECT_FALSE(off.on());
  EXPECT_EQ(off.track("p", "t"), 0U);
  off.slice(0, "x", ns(0), ns(1));
  EXPECT_TRUE(off.close());
  EXPECT_THROW(timeline("/no/such/folder/timeline.json"), std::runtime_error);
  timeline full("/dev/full");
  full.track("p", "t");
  EXPECT_FALSE(full.close()) << "a full disk went unnoticed";
}

TEST(merged_slices, neighbours_of_one_name_become_one_slice) {
  const scratch_file file("merged.json");
  {
    timeline out(file.path());
    merged_slices merged(out, "p", "t", "bytes", ns(2));
    merged.add("read", ns(0), ns(10), 1);
    merged.add("read", ns(10), ns(11), 2);     // adjacent
    merged.add("read", ns(13), ns(20), 4);     // gap of exactly 2
    merged.add("read", ns(15), ns(18), 8);     // inside
    merged.add("read", ns(22.5), ns(23), 16);  // too far
    merged.add("write", ns(23), ns(24), 32);
  }
  EXPECT_EQ(test::timeline_slices(file.text()), json::parse(R"([
    ["read", 0.0, 0.02, {"count": 4, "bytes": 15}], ["read", 0.0225, 0.0005, {"count": 1, "bytes": 16}],
    ["write", 0.023, 0.001, {"count": 1, "bytes": 32}]])"));
}

TEST(read_rates, are_graphs_by_precision_with_a_point_where_they_change) {
  const scratch_file file("rates.json");
  const auto us = [](double value) { return sc_time(value, sc_core::SC_US); };
  {
    timeline out(file.path());
    read_rates rates(out, "system", "dram");
    rates.add(gen::precision::q8, us(0), 30'000);
    rates.add(gen::precision::q8, us(9.999), 10'000);
    rates.add(gen::precision::q4, us(5), 5'000);
    rates.add(gen::precision::raw, us(5), 1 << 20);  // no precision: not drawn
    rates.add(gen::precision::q8, us(10), 40'000);   // as fast as before: no point
    rates.add(gen::precision::q2, us(19), 1'000);
    rates.add(gen::precision::q2, us(8), 1'000);  // late: counts here
    rates.add(gen::precision::bf16, us(50), 20'000);
  }
  json points = json::array();
  const json parsed = json::parse(file.text());
  for (const json& event : parsed.at("traceEvents")) {
    if (event.at("ph") == "C") points.push_back({event.at("ts"), event.at("name"), event.at("args").at("value")});
  }
  EXPECT_EQ(points, json::parse(R"([
    [0.0, "dram read q8 GB/s", 4.0], [0.0, "dram read q4 GB/s", 0.5],
    [10.0, "dram read q4 GB/s", 0.0], [10.0, "dram read q2 GB/s", 0.2],
    [20.0, "dram read q8 GB/s", 0.0], [20.0, "dram read q2 GB/s", 0.0],
    [50.0, "dram read bf16 GB/s", 2.0], [60.0, "dram read bf16 GB/s", 0.0]])"));
}

}  // namespace
}  // namespace dvp::core
