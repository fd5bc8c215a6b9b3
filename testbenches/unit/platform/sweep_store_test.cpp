// The database of sweeps: what is claimed, finished, shared and given back; what is no such database. Looked at with
// statements of this test's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tlm/platform/files.h"
#include "tlm/platform/sweep/owner.h"
#include "tlm/platform/sweep/store.h"
#include "tlm/platform/sweep/table.h"

namespace dvp::platform::sweep {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

class sweep_store : public testing::Test {
 protected:
  sweep_store() {
    std::string pattern = (fs::temp_directory_path() / "sweep-store-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    path = (folder / "x.sqlite").string();
  }
  ~sweep_store() override { fs::remove_all(folder); }

  // The only value of a query, as text.
  std::string ask(store& results, const std::string& sql) {
    statement query = results.database().prepare(sql);
    return query.step() ? query.text(0) : "nothing";
  }

  std::string refusal() {
    try {
      store(path, true);
      return "accepted";
    } catch (const usage_error& error) {
      return error.what();
    }
  }

  fs::path folder;
  std::string path;
};

sweep_spec named(const std::string& name) {
  sweep_spec spec;
  spec.name = name;
  spec.source = {{"name", name}, {"objectives", {{"total.latency_us", "min"}, {"total.score.right", "max"}}}};
  return spec;
}

sweep_point point(const std::string& key, int value) {
  return {{{"a", value}}, {"--set=a=" + std::to_string(value)}, key, 1, {}};
}

ordered_json stats(double latency, double right) {
  return {{"total",
           {{"latency_us", latency},
            {"score", {{"right", right}}},
            {"counters", {{"npu", 3}}},
            {"phases", {{"fill", {{"system_pj", 4}}}}},
            {"energy", {{"npu_pj", {{"value", 5}, {"kind", "modelled"}, {"parts", {{"array", 2}}}}}}}}}};
}

TEST_F(sweep_store, points_are_claimed_once_in_order_and_shared_between_sweeps) {
  store results(path, true);
  const auto first = results.add_sweep(named("first"), {point("k1", 1), point("k2", 2), point("k1", 1)});
  EXPECT_EQ(results.add_sweep(named("first"), {point("k1", 1), point("k2", 2), point("k1", 1)}), first);
  EXPECT_EQ(results.claim(first, "me")->arguments, std::vector<std::string>{"--set=a=1"});
  EXPECT_EQ(results.claim(first, "me")->key, "k2");
  EXPECT_FALSE(results.claim(first, "me").has_value());
  results.finish("k1", {"", 0, 0.5, stats(7, 1)});
  results.finish("k2", {"the array is too small", 2, 0.1, nullptr});

  const auto second = results.add_sweep(named("second"), {point("k3", 3), point("k1", 1)});
  EXPECT_NE(second, first);
  EXPECT_EQ(results.claim(second, "me")->key, "k3");
  EXPECT_FALSE(results.claim(second, "me").has_value());
  EXPECT_EQ(results.count(first).done + results.count(first).failed, 2U);
  EXPECT_EQ(ask(results, "SELECT reason || exit_code FROM point WHERE key = 'k2'"), "the array is too small2");
  EXPECT_EQ(ask(results, "SELECT count(*) FROM point"), "3");
  EXPECT_EQ(ask(results, "SELECT count(*) FROM member WHERE sweep = 1"), "3");

  results.finish("k1", {"", 0, 0.5, stats(8, 1)});  // comes late: the first result stays
  EXPECT_EQ(ask(results, "SELECT value FROM objective WHERE sweep = 2 AND ordinal = 2 AND figure = 'total.latency_us'"),
            "7.0");
  EXPECT_EQ(results.retry_failed(first), 1U);
  EXPECT_EQ(results.claim(first, "me")->key, "k2");
}

TEST_F(sweep_store, results_are_measured_or_modelled) {
  store results(path, true);
  const auto sweep = results.add_sweep(named("x"), {point("k", 1)});
  results.claim(sweep, "me");
  results.finish("k", {"", 0, 0, stats(7, 1)});
  EXPECT_EQ(ask(results,
                "SELECT group_concat(figure || ' ' || kind || ' ' || value, '; ') FROM (SELECT * FROM result ORDER BY "
                "figure)"),
            "total.energy.npu_pj modelled 5.0; total.energy.npu_pj.parts.array modelled 2.0; "
            "total.latency_us measured 7.0; total.phases.fill.system_pj modelled 4.0; total.score.right measured 1.0");
}

TEST_F(sweep_store, refused_points_are_failed_from_the_start_and_not_retried) {
  store results(path, true);
  sweep_point bad = point("k", 1);
  bad.refused = {"npu: contradicts itself", 2};
  const auto sweep = results.add_sweep(named("x"), {bad});
  EXPECT_FALSE(results.claim(sweep, "me").has_value());
  EXPECT_EQ(results.retry_failed(sweep), 0U);
  EXPECT_EQ(results.count(sweep).failed, 1U);
}

TEST_F(sweep_store, points_of_dead_owners_wait_again) {
  store results(path, true);
  const auto sweep = results.add_sweep(named("x"), {point("k1", 1), point("k2", 2), point("k3", 3), point("k4", 4)});
  ordered_json dead = ordered_json::parse(own_identity());
  dead["start"] = "1";  // another process had this number
  ordered_json rebooted = ordered_json::parse(own_identity());
  rebooted["boot"] = "another";
  const std::string elsewhere = R"({"host":"elsewhere.example","boot":"b","pid":1,"start":"1"})";
  for (const auto& owner : {dead.dump(), rebooted.dump(), own_identity(), elsewhere}) results.claim(sweep, owner);
  EXPECT_EQ(results.release_dead(), 2U);
  EXPECT_EQ(results.count(sweep).waiting, 2U);
  EXPECT_EQ(ask(results, "SELECT group_concat(key) FROM point WHERE state = 'running'"), "k3,k4");
  results.release(own_identity());
  EXPECT_EQ(results.owners(sweep), std::vector<std::string>{elsewhere});
  EXPECT_EQ(results.points_of(elsewhere), std::vector<std::string>{"k4"});
  EXPECT_EQ(results.release_elsewhere(sweep), 1U);
  EXPECT_EQ(results.claim_all(sweep, "me").size(), 4U);
  EXPECT_EQ(results.claim_all(sweep, "me").size(), 0U);
}

TEST_F(sweep_store, the_best_points_are_those_nobody_beats) {
  store results(path, true);
  const std::pair<double, double> figures[] = {{1, 1}, {2, 3}, {2, 2}, {3, 3}, {1, 1}, {4, 4}};
  std::vector<sweep_point> points;
  for (int i = 0; i < 6; ++i) points.push_back(point("k" + std::to_string(i), i));
  points.push_back(point("waiting", 6));
  const auto sweep = results.add_sweep(named("x, \"y\""), points);
  for (int i = 0; i < 6; ++i)
    results.finish("k" + std::to_string(i), {"", 0, 0, stats(figures[i].first, figures[i].second)});
  const sweep_table table = read_table(results, find_sweep(results, ""));
  std::string optimal;
  for (const auto& row : table.rows) optimal += row.optimal ? '*' : '-';
  EXPECT_EQ(optimal, "**--**-");
  EXPECT_EQ(as_csv(table, true),
            "point,a,total.latency_us,total.score.right,pareto,state,reason\r\n"
            "1,0,1.0,1.0,1,done,\r\n2,1,2.0,3.0,1,done,\r\n5,4,1.0,1.0,1,done,\r\n6,5,4.0,4.0,1,done,\r\n");
  EXPECT_EQ(find_sweep(results, "1"), sweep);
  EXPECT_EQ(find_sweep(results, "x, \"y\""), sweep);
  EXPECT_THROW(find_sweep(results, "y"), usage_error);
}

TEST_F(sweep_store, no_other_file_is_taken_for_a_database) {
  const auto write = [&](const std::string& bytes) { std::ofstream(path, std::ios::trunc) << bytes; };
  write("{}");
  EXPECT_NE(refusal().find("is no database, or a damaged one"), std::string::npos) << refusal();
  write(std::string(5000, '\0'));
  EXPECT_NE(refusal().find("is no database, or a damaged one"), std::string::npos) << refusal();
  fs::remove(path);
  connection(path, true).execute("CREATE TABLE point(x)");
  EXPECT_NE(refusal().find("is a database of another program"), std::string::npos) << refusal();
  fs::remove(path);
  store(path, true).database().execute("PRAGMA user_version = 2");
  EXPECT_NE(refusal().find("has form 2 and this version reads form 1"), std::string::npos) << refusal();
  fs::remove(path);
  {
    store results(path, true);
    results.add_sweep(named("x"), {point("k", 1)});
  }
  fs::resize_file(path, fs::file_size(path) / 2);
  EXPECT_NE(refusal().find("damaged"), std::string::npos) << refusal();
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_NE(refusal().find("cannot be opened as a database"), std::string::npos) << refusal();
  EXPECT_THROW(store("/no/such/folder/x.sqlite", true), usage_error);
  EXPECT_THROW(store((folder / "absent.sqlite").string(), false), usage_error);
}

}  // namespace
}  // namespace dvp::platform::sweep
