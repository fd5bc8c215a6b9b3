// Loop profile: which forwards it runs, what it leaves, and what it refuses. Times are the machine's, so they are
// looked at in testbenches/system.
#include "firmware/dllm/profile.h"

#include <gtest/gtest.h>

#include <functional>

#include "testbenches/unit/firmware/bench.h"

namespace dvp::dllm {
namespace {

using gen::request_record;
using gen::result_code;
using testbench::bench;
using testbench::tiny_model;

constexpr std::uint32_t prompt_tokens = 150;

// A request to measure 1, 2, ... rows.
void ask(bench& b, std::uint32_t rows) {
  request_record& r = b.request();
  r.loop = gen::decode_loop::profile;
  r.generate_tokens = 0;
  r.latency_address = r.progress_address + 4096;
  r.latency_entries = rows;
  for (std::uint32_t i = 0; i < rows; ++i) {
    *b.machine().at<gen::latency_entry>(r.latency_address + i * sizeof(gen::latency_entry)) = {i + 1, 0};
  }
}

gen::latency_entry& entry(bench& b, std::uint32_t i) {
  return *b.machine().at<gen::latency_entry>(b.request().latency_address + i * sizeof(gen::latency_entry));
}

TEST(profile, runs_a_forward_for_every_entry_and_commits_nothing) {
  for (const bool shifted : {false, true}) {
    tiny_model model({.seed = 61, .shift_logits = shifted});
    const auto prompt = testbench::random_tokens(model, prompt_tokens, 62);
    bench b(model, {}, prompt);
    ask(b, 5);
    entry(b, 4).rows = 128;
    ASSERT_EQ(b.run(), result_code::ok);
    EXPECT_TRUE(b.machine().hazards().empty());
    EXPECT_EQ(b.result().forwards, 6u);
    EXPECT_EQ(b.result().rows, prompt_tokens + 1 + 2 + 3 + 4 + 128);
    EXPECT_EQ(b.result().committed, 0u);
    EXPECT_EQ(b.result().total_tokens, prompt_tokens);
    EXPECT_EQ(b.tokens(prompt_tokens), prompt);
    for (std::uint32_t i = 0; i < 4; ++i) {
      EXPECT_EQ(entry(b, i).rows, i + 1);
    }
  }
}

TEST(profile, what_it_cannot_measure_is_refused) {
  struct row {
    const char* what;
    bool causal;
    std::function<void(request_record&, bench&)> change;
    result_code code;
  };
  const auto bad = result_code::bad_request;
  const row rows[] = {
      {"nothing", false, [](auto&, auto&) {}, result_code::ok},
      {"block-causal model", true, [](auto&, auto&) {}, bad},
      {"something to generate", false, [](auto& r, auto&) { r.generate_tokens = 32; }, bad},
      {"no entries", false, [](auto& r, auto&) { r.latency_entries = 0; }, bad},
      {"too many entries", false, [](auto& r, auto&) { r.latency_entries = 65; }, bad},
      {"entries outside memory", false, [](auto& r, auto&) { r.latency_address = 0x1000; }, bad},
      {"rows that do not rise", false, [](auto&, auto& b) { entry(b, 3).rows = 3; }, bad},
      {"no rows", false, [](auto&, auto& b) { entry(b, 0).rows = 0; }, bad},
      {"as many rows as can be asked", false, [](auto&, auto& b) { entry(b, 3).rows = 128; }, result_code::ok},
      {"more rows than can be asked", false, [](auto&, auto& b) { entry(b, 3).rows = 129; }, bad},
      {"more rows than positions", false, [](auto&, auto& b) { entry(b, 3).rows = ~0u; }, bad},
      {"rule", false, [](auto& r, auto&) { r.rule = gen::commit_rule::count; }, bad},
      {"cache", false, [](auto& r, auto&) { r.cache = gen::cache_mode::dual; }, bad},
      {"editing", false, [](auto& r, auto&) { r.edit_threshold = 0.5f; }, bad},
      {"drafts", false, [](auto& r, auto&) { r.draft_trigger = 4; }, bad},
      {"revision", false, [](auto& r, auto&) { r.visibility = r.stability = 0.5f; }, bad},
  };
  for (const row& r : rows) {
    SCOPED_TRACE(r.what);
    tiny_model model({.seed = 63, .block_causal = r.causal, .shift_logits = r.causal});
    const auto prompt = testbench::random_tokens(model, prompt_tokens, 64);
    bench b(model, {}, prompt);
    ask(b, 4);
    r.change(b.request(), b);
    EXPECT_EQ(b.run(), r.code);
  }
}

TEST(profile, rows_that_change_after_the_check_are_checked_again) {
  for (const std::uint32_t rows : {0U, 4U, 151U, ~0U}) {
    tiny_model model({.seed = 65});
    bench b(model, {}, testbench::random_tokens(model, prompt_tokens, 66));
    ask(b, 5);
    b.machine().on_progress = [&] {
      if (b.progress().kind == gen::progress_kind::started) {
        entry(b, 4).rows = rows;
      }
    };
    EXPECT_EQ(b.run(), result_code::bad_request) << rows;
    EXPECT_TRUE(b.machine().hazards().empty());
  }
}

}  // namespace
}  // namespace dvp::dllm
