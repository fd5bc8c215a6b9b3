#include "tlm/lpddr5/engine/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "tlm/lpddr5/engine/expression.h"

namespace dvp::lpddr5 {
namespace {

timing some_timing() {
  timing t;
  t.RL = 17;
  t.WL = 9;
  t.BL_n_min = 2;
  t.BL_n_max = 4;
  t.WTR_L = 10;
  return t;
}

template <typename Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

TEST(expression, values) {
  const timing t = some_timing();
  const std::pair<const char*, cycles> cases[] = {{"7", 7},
                                                  {" WL+BL_n_max + WTR_L ", 23},
                                                  {"RL + BL_n_min + 2 - WL", 12},
                                                  {"2 + 3 * 4", 14},
                                                  {"(2 + 3) * 4", 20},
                                                  {"20 - 3 - 2", 15},
                                                  {"40 / 3 / 2", 6},
                                                  {"-RL + 20", 3},
                                                  {"2 - -3", 5},
                                                  {"max(1, WL - RL)", 1},
                                                  {"min(max(RL, WL), 4*(1+1))", 8},
                                                  {"-7 / 2", -3}};
  for (const auto& [text, value] : cases) EXPECT_EQ(evaluate(text, t), value) << text;
}

TEST(expression, faults_name_their_position) {
  const timing t = some_timing();
  const std::pair<const char*, const char*> cases[] = {{"", "ends where a value is expected at position 1"},
                                                       {"RL +", "ends where a value is expected at position 5"},
                                                       {"RL + tRCD", "no timing is called tRCD at position 6"},
                                                       {"RL WL", "unexpected 'W' at position 4"},
                                                       {"(RL + 2", "expected ')' at position 8"},
                                                       {"max(1)", "expected ',' at position 6"},
                                                       {"max 1", "expected '(' at position 5"},
                                                       {"RL / (WL - 9)", "division by zero at position 14"},
                                                       {"RL $ 2", "unexpected '$' at position 4"},
                                                       {"1099511627777", "beyond 2^40"},
                                                       {"1099511627776 * 1099511627776", "beyond 2^40"},
                                                       {"1099511627776 + 1", "beyond 2^40"}};
  for (const auto& [text, phrase] : cases) {
    const std::string said = refusal_of([&] { evaluate(text, t); });
    EXPECT_NE(said.find(phrase), std::string::npos) << text << ": " << said;
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
  EXPECT_NE(refusal_of([&] { evaluate(std::string(100'000, '('), t); }).find("nested too deep"), std::string::npos);
  EXPECT_NE(refusal_of([&] { evaluate(std::string(100'000, '-'), t); }).find("nested too deep"), std::string::npos);
}

rule_row row(rule_scope scope, std::vector<command> earlier, std::vector<command> later, std::string latency) {
  rule_row r;
  r.scope = scope;
  r.earlier = std::move(earlier);
  r.later = std::move(later);
  r.latency = std::move(latency);
  r.why = "the rule";
  return r;
}

cycles effect(const rule_table& table, rule_scope scope, command earlier, command later) {
  const auto& list = table.effects[static_cast<std::size_t>(scope)][static_cast<std::size_t>(earlier)];
  EXPECT_LE(std::count_if(list.begin(), list.end(), [&](const rule_effect& e) { return e.later == later; }), 1);
  for (const rule_effect& e : list) {
    if (e.later == later) return e.latency;
  }
  return -1;
}

TEST(compile, the_longest_of_several_rows_holds_once) {
  const rule_table table = compile({row(rule_scope::rank, {command::rd, command::rda}, {command::wr}, "12"),
                                    row(rule_scope::rank, {command::rd}, {command::wr}, "RL"),
                                    row(rule_scope::rank, {command::rd}, {command::wr}, "3"),
                                    row(rule_scope::bank, {command::rd}, {command::wr}, "99")},
                                   some_timing());
  EXPECT_EQ(effect(table, rule_scope::rank, command::rd, command::wr), 17);
  EXPECT_EQ(effect(table, rule_scope::rank, command::rda, command::wr), 12);
  EXPECT_EQ(effect(table, rule_scope::bank, command::rd, command::wr), 99);
  EXPECT_EQ(effect(table, rule_scope::bank, command::rda, command::wr), -1);
}

TEST(compile, windows_and_holes_stand_apart) {
  rule_row faw = row(rule_scope::rank, {command::act1}, {command::act1}, "16");
  faw.window = 4;
  rule_row gap = row(rule_scope::rank, {command::rd, command::rda}, {command::rd}, "2");
  gap.hole_from = "2 + 1";
  gap.hole_to = "6";
  rule_row no_gap = gap;
  no_gap.hole_to = "3";
  const rule_table table = compile({faw, gap, no_gap}, some_timing());
  ASSERT_EQ(table.windows.size(), 1U);
  EXPECT_EQ(table.windows[0].window, 4U);
  EXPECT_EQ(table.windows[0].latency, 16);
  EXPECT_EQ(table.windows[0].earlier_mask, 1U << static_cast<unsigned>(command::act1));
  EXPECT_EQ(effect(table, rule_scope::rank, command::act1, command::act1), -1);
  ASSERT_EQ(table.holes.size(), 1U) << "an empty hole is none";
  EXPECT_EQ(table.holes[0].from, 3);
  EXPECT_EQ(table.holes[0].to, 6);
  EXPECT_EQ(effect(table, rule_scope::rank, command::rda, command::rd), 2);
}

TEST(compile, refuses_rows_that_mean_nothing) {
  const auto refused = [](rule_row r) { return refusal_of([&] { compile({r}, some_timing()); }); };
  rule_row r = row(rule_scope::bank, {command::rd}, {command::wr}, "WL - RL");
  EXPECT_NE(refused(r).find("timing rule 1 (the rule): \"WL - RL\" is -8 clocks"), std::string::npos) << refused(r);
  r.latency = "RLL";
  EXPECT_NE(refused(r).find("no timing is called RLL"), std::string::npos) << refused(r);
  r.latency = "1";
  r.window = 4;
  EXPECT_NE(refused(r).find("rank and channel only"), std::string::npos) << refused(r);
  r.window = 9;
  EXPECT_NE(refused(r).find("window 9 is not 1 to 8"), std::string::npos) << refused(r);
  r.window = 0;
  EXPECT_NE(refused(r).find("window 0"), std::string::npos) << refused(r);
  r.window = 1;
  r.hole_from = "3";
  EXPECT_NE(refused(r).find("both ends"), std::string::npos) << refused(r);
  r.hole_to = "4";
  EXPECT_NE(refused(r).find("rank and channel only"), std::string::npos) << refused(r);
  r = row(rule_scope::bank, {}, {command::wr}, "1");
  EXPECT_NE(refused(r).find("no earlier or no later"), std::string::npos) << refused(r);
}

}  // namespace
}  // namespace dvp::lpddr5
