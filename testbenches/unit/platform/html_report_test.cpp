// The parts of the report page that are reckoned before a browser sees them, against values worked out by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "tlm/platform/files.h"
#include "tlm/platform/html_report/forwards_view.h"
#include "tlm/platform/html_report/page.h"
#include "tlm/platform/html_report/plan_view.h"
#include "tlm/platform/html_report/roofline.h"
#include "tlm/platform/html_report/scores.h"
#include "tlm/platform/html_report/time_bins.h"
#include "tlm/platform/html_report/timeline_view.h"
#include "tlm/platform/reasons.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;

class scratch_file {
 public:
  explicit scratch_file(const std::string& text) {
    path_ = std::filesystem::temp_directory_path() / ("dllm-vp-report-" + std::to_string(getpid()));
    write_text(path_, text);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  ~scratch_file() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

TEST(time_bins, what_is_added_stays_however_wide_the_bins_become) {
  time_bins bins;
  const auto early = bins.add_row();
  bins.add(early, 0, 0.25, 4);
  EXPECT_DOUBLE_EQ(bins.row(early)[0], 4.0 / 256);
  const auto late = bins.add_row();
  bins.add(late, 1e6, 3e6, 10);
  EXPECT_NEAR(sum_of(bins.row(early)), 4, 1e-9);
  EXPECT_NEAR(sum_of(bins.row(late)), 10, 1e-9);
  EXPECT_DOUBLE_EQ(bins.row(early)[0], 4) << "all of it is in the first bin now";
  const auto at = static_cast<std::size_t>(2e6 / bins.width_us());
  EXPECT_NEAR(bins.row(late)[at], 10 * bins.width_us() / 2e6, 1e-9) << "spread evenly";
}

constexpr const char* two_tracks = R"({"displayTimeUnit":"ns","traceEvents":[
{"ph":"M","name":"process_name","pid":2,"tid":3,"args":{"name":"npu"}},
{"ph":"M","name":"thread_name","pid":2,"tid":3,"args":{"name":"array"}},
{"ph":"M","name":"thread_name","pid":2,"tid":4,"args":{"name":"dma_load"}},
{"ph":"M","name":"thread_name","pid":1,"tid":5,"args":{"name":"calls"}},
{"ph":"X","name":"gemm 2x3x5","pid":2,"tid":3,"ts":0.0,"dur":256.0,"args":{"operator":"attn","layer":0}},
{"ph":"X","name":"weights","pid":2,"tid":4,"ts":128.0,"dur":64.0,"args":{"operator":"attn","bytes":60}},
{"ph":"X","name":"outer","pid":1,"tid":5,"ts":0.0,"dur":100.0},
{"ph":"X","name":"inner","pid":1,"tid":5,"ts":10.0,"dur":20.0},
{"ph":"X","name":"wait","pid":2,"tid":4,"ts":192.0,"dur":64.0},
{"ph":"C","name":"mapped bytes","pid":2,"tid":3,"ts":1.0,"args":{"value":7}}
]})";

TEST(timeline_view, shares_bytes_and_work_by_operator) {
  const scratch_file file(two_tracks);
  const ordered_json view = view_timeline(file.path());
  EXPECT_DOUBLE_EQ(view["end_us"], 256);
  EXPECT_DOUBLE_EQ(view["bin_us"], 0.5);
  ASSERT_EQ(view["tracks"].size(), 2U) << "slices of calls nest";
  const ordered_json& array = view["tracks"][0];
  EXPECT_EQ(array["process"], "npu");
  EXPECT_EQ(array["name"], "array");
  ASSERT_EQ(array["busy"].size(), 512U);
  EXPECT_EQ(array["busy"][511], 1.0);
  const ordered_json& load = view["tracks"][1];
  EXPECT_EQ(load["busy"][255], 0.0);
  EXPECT_EQ(load["busy"][256], 1.0);
  EXPECT_EQ(load["busy"][384], 0.0);
  ASSERT_EQ(view["operators"].size(), 1U);
  EXPECT_EQ(
      view["operators"][0],
      (ordered_json{{"name", "attn"}, {"macs", 30.0}, {"bytes", 60.0}, {"array_us", 256.0}, {"transfer_us", 64.0}}));
}

TEST(timeline_view, a_forward_begins_with_tokens_embedded_after_products) {
  const scratch_file file(R"({"traceEvents":[
    {"ph":"M","name":"thread_name","pid":2,"tid":1,"args":{"name":"array"}},
    {"ph":"M","name":"thread_name","pid":2,"tid":2,"args":{"name":"dma_load"}},
    {"ph":"X","name":"embedding","pid":2,"tid":2,"ts":1,"dur":1,"args":{"operator":"embedding","bytes":7}},
    {"ph":"X","name":"weights","pid":2,"tid":2,"ts":2,"dur":1,"args":{"operator":"key","bytes":5}},
    {"ph":"X","name":"embedding","pid":2,"tid":2,"ts":3,"dur":1,"args":{"operator":"embedding","bytes":2}},
    {"ph":"X","name":"gemm 1x2x3","pid":2,"tid":1,"ts":4,"dur":4,"args":{"operator":"key"}},
    {"ph":"X","name":"embedding","pid":2,"tid":2,"ts":10,"dur":1,"args":{"operator":"embedding","bytes":1}},
    {"ph":"X","name":"gemm 1x1x1","pid":2,"tid":1,"ts":11,"dur":2,"args":{"operator":"key"}}]})");
  const ordered_json forwards = view_timeline(file.path())["forwards"];
  ASSERT_EQ(forwards.size(), 2U);
  EXPECT_EQ(forwards[0], (ordered_json{{"macs", 6.0}, {"bytes", 14.0}, {"begin_us", 1.0}, {"end_us", 8.0}}));
  EXPECT_EQ(forwards[1], (ordered_json{{"macs", 1.0}, {"bytes", 1.0}, {"begin_us", 10.0}, {"end_us", 13.0}}));
}

TEST(timeline_view, channels_that_saw_less_than_the_dmas_moved_are_left_out) {
  const auto view_of = [](int bytes_on_channel) {
    const scratch_file file(R"({"traceEvents":[
      {"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"memory channel 0"}},
      {"ph":"M","name":"thread_name","pid":2,"tid":2,"args":{"name":"dma_load"}},
      {"ph":"X","name":"read","pid":1,"tid":1,"ts":0,"dur":128,"args":{"bytes":)" +
                            std::to_string(bytes_on_channel) + R"(}},
      {"ph":"X","name":"weights","pid":2,"tid":2,"ts":0,"dur":256,"args":{"bytes":512}}]})");
    return view_timeline(file.path());
  };
  const ordered_json whole = view_of(512);
  EXPECT_EQ(whole["memory_bytes_of"], "channels");
  EXPECT_EQ(whole["tracks"].size(), 2U);
  EXPECT_EQ(whole["memory_bytes_per_second"][0], 4e6);
  const ordered_json partly = view_of(500);
  EXPECT_EQ(partly["memory_bytes_of"], "dmas");
  ASSERT_EQ(partly["tracks"].size(), 1U);
  EXPECT_EQ(partly["tracks"][0]["name"], "dma_load");
  EXPECT_EQ(partly["memory_bytes_per_second"][0], 2e6);
}

TEST(timeline_view, nothing_in_a_file_makes_it_large_or_slow) {
  std::string text = R"({"traceEvents":[)";
  for (int track = 0; track < 300; ++track) {
    text += R"({"ph":"X","name":"x","pid":1,"tid":)" + std::to_string(track) +
            R"(,"ts":1e12,"dur":1,"args":{"operator":"o)" + std::to_string(track) + R"("}},)";
  }
  text += R"({"ph":"X","tid":1,"ts":-5,"dur":1},{"ph":"X","tid":1,"ts":1,"dur":1e300},{"ph":7,"ts":[{}]},3,"x",null]})";
  const scratch_file file(text);
  const ordered_json view = view_timeline(file.path());
  EXPECT_EQ(view["tracks"].size(), 64U);
  EXPECT_LE(view["tracks"][0]["busy"].size(), 512U);
}

TEST(timeline_view, a_file_cut_off_is_refused_with_its_place) {
  for (const std::string text : {"", "{\"traceEvents\":[{\"ph\":\"X\"", "[1,2", "\x01\x02", "{\"a\":1e999}"}) {
    const scratch_file file(text);
    try {
      view_timeline(file.path());
      ADD_FAILURE() << text << " was accepted";
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find("is not JSON at byte"), std::string::npos) << error.what();
    }
  }
}

constexpr const char* small_plan =
    "swap policy somr, window of 8192 bytes, 64 entries, pages of 4096 bytes; the first forward\n"
    "how     pinned: mapped for the whole run\n\n"
    "   op  operator          layer  how     place   device address                bus address         bytes  what\n"
    "                                        half 0  0x00001000 - 0x000013ff                      1024  as far as it "
    "is used\n"
    "                                pinned          0x00000000 - 0x00000fff  0x0080103000          4096  tokens .. KV "
    "cache\n"
    "   23  ffn_gate              1  staged  half 0  0x00001000 - 0x000013ff  0x0080150c40          1024  layer 1 "
    "ffn_gate\n"
    "   24  ffn_down              1  mapped          0x00001800 - 0x00001fff  0x0080160000          2048  layer 1 "
    "ffn_down\n"
    "   26  ffn_gate              1  staged  half 0  0x00001000 - 0x000011ff  0x0080154c40           512  layer 1 "
    "ffn_up\n"
    "and 9 more entries that there was no room for\n";

TEST(plan_view, a_buffer_lasts_until_another_takes_its_place) {
  const scratch_file file(small_plan);
  const ordered_json view = view_plan(file.path());
  EXPECT_EQ(view["policy"], "somr");
  EXPECT_EQ(view["window_bytes"], 8192);
  EXPECT_EQ(view["dropped"], 9);
  EXPECT_EQ(view["steps"], (ordered_json{"ffn_gate, layer 1, operator 23", "ffn_down, layer 1, operator 24",
                                         "ffn_gate, layer 1, operator 26"}));
  const auto buffer = [&](int i) {
    const ordered_json& b = view["buffers"][i];
    return std::tuple(b["how"].get<std::string>(), b["first"].get<int>(), b["bytes"].get<int>(), b["from"].get<int>(),
                      b["to"].get<int>());
  };
  ASSERT_EQ(view["buffers"].size(), 4U);
  EXPECT_EQ(buffer(0), std::tuple("pinned", 0, 4096, 0, 3));
  EXPECT_EQ(buffer(1), std::tuple("staged", 4096, 1024, 0, 2));
  EXPECT_EQ(buffer(2), std::tuple("mapped", 6144, 2048, 1, 2));
  EXPECT_EQ(buffer(3), std::tuple("staged", 4096, 512, 2, 3));
}

TEST(plan_view, what_is_no_plan_is_refused_by_its_line) {
  const std::string row =
      "   23  ffn_gate              1  staged  half 0  0x00001000 - 0x000013ff  0x0080150c40          99  x\n";
  const std::string first(small_plan, std::string(small_plan).find('\n') + 1);
  for (const auto& [text, phrase] : std::vector<std::pair<std::string, std::string>>{
           {"", "line 0: is empty"},
           {"{}\n", "line 1: is no swap plan"},
           {first + row, "line 2: the addresses and the bytes do not agree"},
           {first + "       pinned  0x00000000 - 0x00000fff  0x00801 4096  x\n   staged  0x00000000 - 0x00000fff  "
                    "0x008 4096  x\n",
            "line 3: a buffer that is not pinned has no operator"},
           {first + std::string(100000, 'x'), "line 2: is too long"}}) {
    const scratch_file file(text);
    try {
      view_plan(file.path());
      ADD_FAILURE() << text.substr(0, 200) << " was accepted";
    } catch (const usage_error& error) {
      EXPECT_NE(std::string(error.what()).find(phrase), std::string::npos) << error.what();
    }
  }
}

TEST(roofline, roofs_of_the_configuration_and_points_of_the_counters) {
  const ordered_json costs = {
      {"array", {{"macs", 6000}}},
      {"latency_us", 2},
      {"dram",
       {{"bytes_read", {{"weights", 90}}}, {"bytes_written", {{"step_kv", 10}}}, {"peak_bytes_per_second", 5e10}}}};
  ordered_json answer = costs;
  answer["id"] = "a-1";
  const ordered_json stats = {{"configuration", {{"npu", {{"array", "nano"}, {"clock_hz", 1000000000}}}}},
                              {"total", costs},
                              {"answers", {answer}}};
  const ordered_json timeline = {
      {"operators",
       {{{"name", "attn"}, {"macs", 500}, {"bytes", 50}, {"array_us", 1}, {"transfer_us", 4}},
        {{"name", "norm"}, {"macs", 0}, {"bytes", 50}, {"array_us", 0}, {"transfer_us", 4}}}},
      {"forwards",
       {{{"macs", 100}, {"bytes", 50}, {"begin_us", 10}, {"end_us", 14}},
        {{"macs", 30}, {"bytes", 40}, {"begin_us", 20}, {"end_us", 29}},
        {{"macs", 50}, {"bytes", 60}, {"begin_us", 30}, {"end_us", 36}}}}};
  const ordered_json forwards = ordered_json::parse(R"([{"forwards": [{"kind": "prefill"},
    {"kind": "forward", "network": "interior"}, {"kind": "forward", "network": "interior"}]},
    {"forwards": [{"kind": "prefill"}]}])");
  const ordered_json roofline = roofline_of(stats, timeline, forwards);
  // 64 x 64 at 1 GHz over byte lanes with packing: bf16 takes two beats, q4 half a one, q2 a quarter.
  const double q8 = 4096e9;
  EXPECT_EQ(roofline["roofs"][0], (ordered_json{{"format", "bf16"}, {"macs_per_second", q8 / 2}}));
  EXPECT_EQ(roofline["roofs"][1]["macs_per_second"], q8);
  EXPECT_EQ(roofline["roofs"][2]["macs_per_second"], q8 * 2);
  EXPECT_EQ(roofline["roofs"][3]["macs_per_second"], q8 * 4);
  ASSERT_EQ(roofline["points"].size(), 5U) << "what computes nothing has no place on it";
  EXPECT_EQ(roofline["points"][0],
            (ordered_json{{"name", "whole run"}, {"what", "run"}, {"macs_per_byte", 60.0}, {"macs_per_second", 3e9}}));
  EXPECT_EQ(roofline["points"][1]["name"], "a-1");
  const ordered_json& prefill = roofline["points"][2];
  EXPECT_EQ(prefill["name"], "prefill");
  EXPECT_DOUBLE_EQ(prefill["macs_per_byte"], 2);
  EXPECT_DOUBLE_EQ(prefill["macs_per_second"], 1e7) << "until the next one begins";
  const ordered_json& interior = roofline["points"][3];
  EXPECT_EQ(interior["name"], "denoising, network interior");
  EXPECT_DOUBLE_EQ(interior["macs_per_byte"], 0.8);
  EXPECT_DOUBLE_EQ(interior["macs_per_second"], 80 / 16e-6) << "10 us and, the last one, 6";
  EXPECT_EQ(
      roofline["points"][4],
      (ordered_json{{"name", "attn"}, {"what", "operator"}, {"macs_per_byte", 10.0}, {"macs_per_second", 1.25e8}}));
  EXPECT_TRUE(roofline_of({{"configuration", ordered_json::object()}}, nullptr, nullptr).is_null());
  ordered_json other = forwards;
  other[0]["forwards"].erase(2);
  EXPECT_EQ(roofline_of(stats, timeline, other)["points"].size(), 5U) << "the first two answers are three forwards";
  other[0]["forwards"].erase(1);
  EXPECT_EQ(roofline_of(stats, timeline, other)["points"].size(), 3U) << "no answers are three forwards";
}

TEST(scores, wilson_intervals_of_published_examples) {
  // Newcombe, Statistics in Medicine 17 (1998), table I, method 3: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
  const auto expect = [](std::uint64_t right, std::uint64_t of, double low, double high) {
    EXPECT_NEAR(wilson(right, of).low, low, 5e-5) << right << " of " << of;
    EXPECT_NEAR(wilson(right, of).high, high, 5e-5) << right << " of " << of;
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
  EXPECT_EQ(wilson(0, 0).high, 1);
}

TEST(scores, tasks_by_their_ids) {
  const ordered_json answers = {{{"id", "arith-000"}, {"right", true}},
                                {{"id", "arith-001"}, {"right", false}},
                                {{"id", "code-7"}, {"right", true}},
                                {{"id", "prompt-1"}},
                                {{"id", "odd"}, {"right", true}}};
  const ordered_json list = scores_of(answers);
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0]["task"], "arith");
  EXPECT_EQ(list[0]["right"], 1);
  EXPECT_EQ(list[0]["of"], 2);
  EXPECT_EQ(list[2]["task"], "odd");
  EXPECT_EQ(list[3]["task"], "all");
  EXPECT_EQ(list[3]["of"], 4);
  EXPECT_TRUE(scores_of(ordered_json::array()).empty());
}

TEST(page, no_text_of_the_data_is_markup) {
  const std::string hostile = "</script><script>alert(1)</script><!-- @PROGRAM@ @LICENCES@ \xff \xe2\x80\xa8";
  const std::string page = make_page({{"title", hostile}});
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("<!-- @"), std::string::npos);
  const std::string before = R"(id="data">)";
  const auto begin = page.find(before) + before.size();
  const std::string data = page.substr(begin, page.find('<', begin) - begin);
  const ordered_json read = ordered_json::parse(data);
  EXPECT_EQ(read["title"], "</script><script>alert(1)</script><!-- @PROGRAM@ @LICENCES@ \xef\xbf\xbd \xe2\x80\xa8")
      << "what is no UTF-8 is replaced, the rest stays";
  EXPECT_NE(page.find("Apache ECharts"), std::string::npos) << "the notice of the library";
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(reasons, the_nearest_one_counts) {
  const ordered_json configuration = {
      {"why", {{"energy", "choice: all"}, {"energy.mac_pj", "quoted: table 2"}, {"cpu", "measured: here"}}},
      {"cpu", {{"rv64", {{"core", {{"why", {{"load", "computed: two"}}}}}}}}}};
  EXPECT_EQ(reason_of(configuration, "energy.mac_pj.q8"), "quoted: table 2");
  EXPECT_EQ(reason_of(configuration, "energy.vector_pj"), "choice: all");
  EXPECT_EQ(reason_of(configuration, "cpu.rv64.core.cycles.load"), "computed: two");
  EXPECT_EQ(reason_of(configuration, "cpu.rv64.core.cycles.store"), "measured: here");
  EXPECT_EQ(reason_of(configuration, "npu.clock_hz"), "");
  EXPECT_EQ(kind_of_reason("quoted: table 2"), "quoted");
  EXPECT_EQ(kind_of_reason("choices"), "unstated");
  EXPECT_EQ(kind_of_reason(""), "unstated");
}

}  // namespace
}  // namespace dvp::platform
