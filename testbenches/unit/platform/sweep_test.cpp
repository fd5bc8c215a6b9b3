// Which points a sweep has: specifications right and wrong, methods, constraints; expectations written out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tlm/core/strict_json.h"
#include "tlm/platform/files.h"
#include "tlm/platform/sweep/run_arguments.h"
#include "tlm/platform/sweep/sampling.h"
#include "tlm/platform/sweep/spec.h"

namespace dvp::platform::sweep {
namespace {

using nlohmann::ordered_json;

sweep_spec spec_with(const std::string& keys) {
  return parse_spec(R"({"name": "x", "objectives": {"total.latency_us": "min"}, )" + keys + "}", "x.json");
}

// As one text: {"a":1,"b":"u"} {"a":1,"b":"v"} ...
std::string points_of(const std::string& keys, bool accept = false) {
  std::string text;
  for (const auto& point : choose_points(spec_with(keys), "x.json", accept)) text += point.dump() + " ";
  return text;
}

std::string refusal(const std::string& keys, bool accept = false) {
  try {
    points_of(keys, accept);
    return "accepted";
  } catch (const core::config_error& error) {
    return error.what();
  } catch (const usage_error& error) {
    return error.what();
  }
}

TEST(sweep, a_grid_is_every_combination_the_last_parameter_fastest) {
  EXPECT_EQ(points_of(R"("method": "grid", "parameters": {"a": [1, 2], "b": ["u", "v", null]})"),
            R"({"a":1,"b":"u"} {"a":1,"b":"v"} {"a":1,"b":null} {"a":2,"b":"u"} {"a":2,"b":"v"} {"a":2,"b":null} )");
}

TEST(sweep, a_list_is_its_points) {
  EXPECT_EQ(points_of(R"("method": "list", "points": [{"a": 3}, {"a": 1, "b": [2]}])"), R"({"a":3} {"a":1,"b":[2]} )");
}

TEST(sweep, ranges_hold_both_ends) {
  const auto values = [](const std::string& range) {
    return ordered_json(spec_with(R"("method": "grid", "parameters": {"a": )" + range + "}").parameters[0].values)
        .dump();
  };
  EXPECT_EQ(values(R"({"from": 1, "to": 7, "step": 2})"), "[1,3,5,7]");
  EXPECT_EQ(values(R"({"from": 1, "to": 6.5, "step": 2})"), "[1,3,5]");
  EXPECT_EQ(values(R"({"from": 0.5, "to": 0.8, "step": 0.1})"), "[0.5,0.6,0.7,0.8]");
  EXPECT_EQ(values(R"({"from": 4, "to": 4, "step": 1})"), "[4]");
  EXPECT_EQ(values(R"({"from": 0, "to": 1, "count": 5})"), "[0,0.25,0.5,0.75,1]");
  EXPECT_EQ(values(R"({"from": 1, "to": 1000, "count": 4, "scale": "log"})"), "[1,10,100,1000]");
  EXPECT_EQ(values(R"({"from": 1, "to": 4, "count": 9, "whole": true})"), "[1,2,3,4]");
}

TEST(sweep, random_points_depend_on_the_seed_alone_and_stay_in_range) {
  const std::string drawn =
      R"("method": "random", "points": 200, "parameters": {"a": {"from": 2, "to": 3}, "b": {"from": 1, "to": 4, "whole": true},
         "c": {"from": 1, "to": 100, "scale": "log"}, "d": ["u", "v"]}, "seed": )";
  EXPECT_EQ(points_of(drawn + "7"), points_of(drawn + "7"));
  EXPECT_NE(points_of(drawn + "7"), points_of(drawn + "8"));
  std::set<std::string> whole, words;
  int below_ten = 0;
  for (const auto& point : choose_points(spec_with(drawn + "7"), "x.json", false)) {
    EXPECT_GE(point["a"], 2);
    EXPECT_LT(point["a"], 3);
    whole.insert(point["b"].dump());
    words.insert(point["d"].dump());
    below_ten += point["c"] < 10 ? 1 : 0;
  }
  EXPECT_EQ(whole, (std::set<std::string>{"1", "2", "3", "4"}));
  EXPECT_EQ(words.size(), 2U);
  EXPECT_NEAR(below_ten, 100, 30);  // half of the decades; 200 draws have a deviation of 7
}

TEST(sweep, a_latin_hypercube_has_one_point_in_each_part_of_every_axis) {
  constexpr int n = 37;
  const auto points = choose_points(
      spec_with(R"("method": "latin_hypercube", "points": 37, "seed": 5, "parameters": {"a": {"from": 10, "to": 20},
                   "b": {"from": 1, "to": 1024, "scale": "log"}, "c": {"from": 0, "to": 36, "whole": true}})"),
      "x.json", false);
  ASSERT_EQ(points.size(), std::size_t{n});
  std::set<int> a, b, c, pairs;
  for (const auto& point : points) {
    const int part_a = static_cast<int>((point["a"].get<double>() - 10) / 10 * n);
    const int part_b = static_cast<int>(std::log2(point["b"].get<double>()) / 10 * n);
    a.insert(part_a);
    b.insert(part_b);
    c.insert(point["c"].get<int>());
    pairs.insert(part_a - part_b);
  }
  EXPECT_EQ(a.size(), std::size_t{n});
  EXPECT_EQ(b.size(), std::size_t{n});
  EXPECT_EQ(c.size(), std::size_t{n});
  EXPECT_GT(pairs.size(), std::size_t{n / 3}) << "the axes are not shuffled against each other";
}

TEST(sweep, constraints_leave_points_out) {
  const std::string grid = R"("method": "grid", "parameters": {"a": [1, 2, 3], "b": [2, 4]}, "constraints": )";
  EXPECT_EQ(points_of(grid + R"(["a * 2 <= b"])"), R"({"a":1,"b":2} {"a":1,"b":4} {"a":2,"b":4} )");
  EXPECT_EQ(points_of(grid + R"(["a != 2", "b == 4"])"), R"({"a":1,"b":4} {"a":3,"b":4} )");
  EXPECT_EQ(points_of(grid + R"(["a * b * 1.5 > 12"])"), R"({"a":3,"b":4} )");
  EXPECT_EQ(points_of(R"("method": "list", "points": [{"a": "u"}, {"a": true}], "constraints": ["a == \"u\""])"),
            R"({"a":"u"} )");
  for (const auto& point :
       choose_points(spec_with(R"("method": "random", "points": 50, "parameters": {"a": {"from": 0, "to": 1},
                                  "b": {"from": 0, "to": 1}}, "constraints": ["a < b"])"),
                     "x.json", false)) {
    EXPECT_LT(point["a"], point["b"]);
  }
}

TEST(sweep, arguments_say_what_a_value_is) {
  const auto text = [](const std::string& name, const ordered_json& value) {
    return ordered_json(arguments_of(name, value)).dump();
  };
  EXPECT_EQ(text("npu.array", "nx"), R"(["--set=npu.array=\"nx\""])");
  EXPECT_EQ(text("npu.vector.lanes", 32), R"(["--set=npu.vector.lanes=32"])");
  EXPECT_EQ(text("decode.edit", {{"steps", 1}}), R"(["--set=decode.edit={\"steps\":1}"])");
  EXPECT_EQ(text("--threshold", 0.9), R"(["--threshold=0.9"])");
  EXPECT_EQ(text("--stop-at-end", true), R"(["--stop-at-end"])");
  EXPECT_EQ(text("--stop-at-end", false), "[]");
  EXPECT_EQ(text("--prompt", {"a", "b"}), R"(["--prompt=a","--prompt=b"])");
}

TEST(sweep, what_is_wrong_is_said_with_file_and_key) {
  const std::string grid = R"("method": "grid", "parameters": {"lanes": [1, 2]})";
  const std::pair<std::string, std::string> table[] = {
      {R"("method": "gird")", "x.json: method: \"gird\" is not known; did you mean grid?"},
      {R"("method": "grid")", "x.json: parameters: is missing"},
      {R"("method": "grid", "parameters": {})", "x.json: parameters: names none"},
      {R"("method": "grid", "parameters": {"a": []})", "x.json: parameters.a: lists no values"},
      {R"("method": "grid", "parameters": {"a": [1, 2, 1]})", "x.json: parameters.a: lists 1 twice"},
      {R"("method": "grid", "parameters": {"a": 3})", "x.json: parameters.a: takes a list of values, or a range"},
      {R"("method": "grid", "parameters": {"": [1]})", "is no path of a configuration"},
      {R"("method": "grid", "parameters": {"a": {"from": 1, "to": 2}})", "x.json: parameters.a: needs step or count"},
      {R"("method": "grid", "parameters": {"a": {"from": 3, "to": 2}})", "x.json: parameters.a.to: 2 is out of range"},
      {R"("method": "grid", "parameters": {"a": {"from": 0, "to": 2, "step": 0}})",
       "parameters.a.step: makes too many"},
      {R"("method": "grid", "parameters": {"a": {"from": 0, "to": 2, "count": 3, "scale": "log"}})",
       "a.from: is not above 0"},
      {R"("method": "grid", "parameters": {"a": {"from": 1, "to": 2, "setp": 1}})", "did you mean parameters.a.step?"},
      {R"("method": "grid", "parameters": {"--out": ["x"]})", "x.json: parameters.--out: is set by the sweep itself"},
      {R"("method": "grid", "parameters": {"--waves": ["x"]})", "x.json: parameters.--waves: is for one run"},
      {R"("method": "list", "points": [])", "x.json: points: lists no points"},
      {R"("method": "list", "points": 3)", "x.json: points: 3 is not a list"},
      {R"("method": "list", "points": [1])", "x.json: points[0]: 1 is not an object"},
      {R"("method": "random", "parameters": {"a": [1]})", "x.json: points: is missing"},
      {grid + R"(, "points": 3)", "x.json: points: is not read by method grid"},
      {grid + R"(, "seeed": 3)", "x.json: seeed: unknown key; did you mean seed?"},
      {grid + R"(, "seed": -1)", "x.json: seed: -1 is negative"},
      {grid + R"(, "run": {"model": {}})", "x.json: run.model: {} is no value of an option"},
      {grid + R"(, "run": {"set": 3})", "x.json: run.set: 3 is not an object"},
      {grid + R"(, "constraints": ["lane < 3"])",
       "lane is neither a parameter of this sweep nor a JSON value; did you mean lanes?"},
      {grid + R"(, "constraints": ["lanes<3"])", "x.json: constraints: \"lanes<3\": lanes<3 is neither"},
      {grid + R"(, "constraints": ["lanes < 3 < 4"])", "< stands where * is expected"},
      {grid + R"(, "constraints": ["lanes <"])", "ends too early"},
      {grid + R"(, "constraints": [""])", "ends too early"},
      {grid + R"(, "constraints": ["lanes < \"u\""])", "compares 1 with \"u\", which are not both numbers"},
      {grid + R"(, "constraints": ["lanes > 5"])", "x.json: constraints: no point meets them"},
      {grid + R"(, "limit": 1)", "x.json: has 2 points and the limit is 1; set limit in the file, or add --yes"},
      {R"("method": "random", "points": 5, "parameters": {"a": [1, 2]}, "constraints": ["a > 2"])",
       "no point meets them"},
      {R"("method": "grid", "parameters": {"a": {"from": 1, "to": 99999, "step": 1}, "b": {"from": 1, "to": 99999, "step": 1},
          "c": {"from": 1, "to": 99999, "step": 1}, "d": {"from": 1, "to": 99999, "step": 1}})",
       "asks for more than 1000000 points"},
  };
  for (const auto& [keys, phrase] : table)
    EXPECT_NE(refusal(keys).find(phrase), std::string::npos) << keys << "\n" << refusal(keys);
  EXPECT_EQ(refusal(grid + R"(, "limit": 1)", true), "accepted");
  const auto document = [](const std::string& text) {
    try {
      parse_spec(text, "x.json");
      return std::string("accepted");
    } catch (const core::config_error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(document("").find("x.json: is not JSON"), std::string::npos);
  EXPECT_NE(document("[]").find("x.json: [] is not an object"), std::string::npos);
  EXPECT_NE(document(R"({"name": 3})").find("x.json: name: 3 is not a text"), std::string::npos);
  EXPECT_NE(document(R"({"name": "x", "method": "list", "points": [{"a": 1}]})").find("objectives: is missing"),
            std::string::npos);
  EXPECT_NE(document(R"({"name": "x", "method": "list", "points": [{"a": 1}], "objectives": {"latency": "min"}})")
                .find("objectives.latency: is not below total"),
            std::string::npos);
  EXPECT_NE(document(R"({"name": "x", "method": "list", "points": [{"a": 1}], "objectives": {"total.x": "least"}})")
                .find("objectives.total.x: \"least\" is not known"),
            std::string::npos);
}

}  // namespace
}  // namespace dvp::platform::sweep
