// Merging timelines, and times as stairs: what files and numbers can be wrong, and what must come out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tlm/core/timeline.h"
#include "tlm/platform/compare/merge_timelines.h"
#include "tlm/platform/profile/stairs.h"

namespace dvp::platform {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const std::string start = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
const std::string event = R"({"ph":"X","name":"a","pid":1,"tid":1,"ts":0.000000,"dur":1.000000})";

class merge_timelines_test : public testing::Test {
 protected:
  merge_timelines_test() { fs::create_directories(folder_); }
  ~merge_timelines_test() override { fs::remove_all(folder_); }

  std::string place(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(place(name), std::ios::binary) << text;
    return place(name);
  }

 private:
  fs::path folder_ = fs::temp_directory_path() / ("dvp-timelines-" + std::to_string(getpid()));
};

TEST_F(merge_timelines_test, names_that_look_like_keys_stay_names) {
  const std::string path = place("hostile.json");
  {
    core::timeline timeline(path);
    const std::uint32_t track = timeline.track("chip\",\"pid\":7", "array,\"tid\":9}");
    timeline.slice(track, "\"args\":{\"name\":\"", sc_core::SC_ZERO_TIME, sc_core::sc_time(1, sc_core::SC_NS),
                   {{"text", std::string_view(",\"pid\":3\n]}")}});
    ASSERT_TRUE(timeline.close());
  }
  const std::string merged = place("merged.json");
  merge_timelines({{"first \"one\"", path}, {"second", path}}, merged);
  std::ifstream in(merged);
  const json events = json::parse(in)["traceEvents"];
  std::ifstream own_in(path);
  const json own = json::parse(own_in)["traceEvents"];
  ASSERT_EQ(events.size(), 2 * own.size());
  EXPECT_EQ(events[0]["args"]["name"], "first \"one\": chip\",\"pid\":7");
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(events[i]["pid"], 1);
    EXPECT_EQ(events[own.size() + i]["pid"], 2);
    EXPECT_EQ(events[own.size() + i]["tid"], 2);
    EXPECT_EQ(events[i]["name"], own[i]["name"]);
  }
  EXPECT_EQ(events.back()["args"], own.back()["args"]);
}

TEST_F(merge_timelines_test, what_is_no_timeline_is_named_and_nothing_is_left) {
  const std::string good = write("good.json", start + event + "\n]}\n");
  const std::pair<std::string, std::string> bad[] = {
      {"", "is empty"},
      {start, "was cut off"},
      {start + event + ",\n", "was cut off"},
      {start + event + ",\n" + event.substr(0, 30), "line 3"},
      {start + "[]\n]}\n", "line 2"},
      {start + R"({"ph":"X","name":"a","pid":-1,"tid":1})" + "\n]}\n", "line 2"},
      {start + R"({"ph":"X","name":"a","tid":1})" + "\n]}\n", "line 2"},
      {start + R"({"ph":"M","name":"process_name","pid":1,"tid":1})" + "\n]}\n", "line 2"},
      {start + std::string(1 << 20, '{') + "\n]}\n", "line 2"},
  };
  const std::string merged = place("none.json");
  for (const auto& [text, phrase] : bad) {
    const std::string path = write("bad.json", text);
    try {
      merge_timelines({{"good", good}, {"bad", path}}, merged);
      ADD_FAILURE() << "accepted: " << text.substr(0, 80);
    } catch (const std::runtime_error& error) {
      EXPECT_NE(std::string(error.what()).find(phrase), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("bad.json"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(merged) || fs::exists(merged + ".part"));
  }
  merge_timelines({{"empty", write("empty.json", start + "]}\n")}, {"good", good}}, merged);
  std::ifstream in(merged);
  EXPECT_EQ(json::parse(in)["traceEvents"].size(), 1U);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> stairs(const std::vector<std::uint32_t>& ns, double tolerance,
                                                            std::size_t most = 64) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (const auto& stair : make_stairs(ns, tolerance, most)) pairs.emplace_back(stair.rows, stair.ns);
  return pairs;
}

TEST(stairs, follow_the_times) {
  using list = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
  EXPECT_EQ(stairs({}, 0.1), list{});
  EXPECT_EQ(stairs({100, 100, 150, 150, 151}, 0), (list{{2, 100}, {4, 150}, {5, 151}}));
  EXPECT_EQ(stairs({100, 105, 110, 111, 122}, 0.1), (list{{3, 110}, {5, 122}}));
  EXPECT_EQ(stairs({0, 0, 1}, 0.5), (list{{2, 0}, {3, 1}}));
}

TEST(stairs, are_never_too_many) {
  std::vector<std::uint32_t> ns;
  for (std::uint32_t i = 0; i < 128; ++i) ns.push_back(1000 + 10 * i);
  for (const double tolerance : {0.0, 0.001, 0.1}) {
    const auto found = stairs(ns, tolerance, 4);
    EXPECT_LE(found.size(), 4U);
    EXPECT_EQ(found.back(), (std::pair<std::uint32_t, std::uint32_t>{128, 2270}));
  }
}

TEST(stairs, a_time_that_falls_is_raised_and_counted) {
  std::vector<std::uint32_t> ns{5, 4, 6, 5, 5, 7};
  EXPECT_EQ(raise_to_monotone(ns), 3U);
  EXPECT_EQ(ns, (std::vector<std::uint32_t>{5, 5, 6, 6, 6, 7}));
}

}  // namespace
}  // namespace dvp::platform
