// Slices of functions, read back by an independent JSON parser.
#include "tlm/cpu/trace/function_timeline.h"

#include <gtest/gtest.h>

#include "testbenches/lib/scratch_file.h"
#include "testbenches/lib/timeline_slices.h"
#include "testbenches/unit/cpu/trace/instruction_stream.h"

namespace dvp::cpu::trace {
namespace {

using nlohmann::json;

TEST(function_timeline, slices_nest) {
  const core::symbol_table symbols = example_symbols();
  const test::scratch_file file("timeline.json");
  core::timeline timeline(file.path());
  function_timeline functions(timeline, 1, 1'000'000'000, symbols);
  instruction_stream run(functions);
  run.at(main_at, flow::straight, 5).at(main_at + 4, flow::call, 2);
  run.at(f_at, flow::jump, 0).at(g_at, flow::ret, 4);  // begin together
  run.at(main_at + 8, flow::straight, 1).trap(timer_cause, main_at + 12, handler_at);
  run.at(handler_at, flow::trap_return, 3).at(main_at + 12, flow::straight, 1);
  functions.finish();
  ASSERT_TRUE(timeline.close());
  const json nothing = json::object();
  const json expected = {{"f(int)", 0.007, 0.004, nothing},
                         {"g", 0.007, 0.004, nothing},
                         {"handler", 0.012, 0.003, nothing},
                         {"main", 0.0, 0.016, nothing}};
  EXPECT_EQ(test::timeline_slices(file.text()), expected);
}

TEST(function_timeline, a_timeline_that_is_off) {
  const core::symbol_table symbols = example_symbols();
  core::timeline off;
  function_timeline functions(off, 1, 1'000'000'000, symbols);
  instruction_stream run(functions);
  run.at(main_at, flow::call).at(f_at, flow::ret).trap(timer_cause, main_at + 4, handler_at);
  functions.finish();
}

}  // namespace
}  // namespace dvp::cpu::trace
