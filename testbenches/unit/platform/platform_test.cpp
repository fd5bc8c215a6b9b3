// Host-side pieces of the program that need no simulation.
#include <gtest/gtest.h>

#include "dvp_gen/request.h"
#include "dvp_gen/system.h"
#include "tlm/core/nearest_word.h"
#include "tlm/platform/dram_layout.h"
#include "tlm/platform/figures.h"
#include "tlm/platform/files.h"
#include "tlm/platform/run_options.h"

namespace dvp::platform {
namespace {

using nlohmann::ordered_json;

TEST(figures, difference_and_sum_go_leaf_by_leaf_over_both_trees) {
  const ordered_json before = {{"a", {{"x", 3}, {"gone", 1}}}, {"e", 0.5}};
  const ordered_json after = {{"a", {{"x", 10}, {"gone", 1}, {"new", 4}}}, {"e", 2.0}};
  const ordered_json delta = difference(after, before);
  EXPECT_EQ(delta, (ordered_json{{"a", {{"x", 7}, {"gone", 0}, {"new", 4}}}, {"e", 1.5}}));
  EXPECT_EQ(sum(before, delta), after);
  EXPECT_EQ(sum(ordered_json(), after), after);
}

TEST(figures, missing_paths_count_as_zero) {
  const ordered_json tree = {{"npu", {{"macs", 5}}}};
  EXPECT_EQ(count_at(tree, "npu.macs"), 5U);
  EXPECT_EQ(count_at(tree, "npu.macs.deeper"), 0U);
  EXPECT_EQ(count_at(tree, "npu"), 0U);
  EXPECT_EQ(value_at(tree, "nothing"), 0.0);
}

TEST(files, nearest_word_is_the_one_a_person_meant) {
  const std::vector<std::string> keys{"latency_ns", "bytes_per_second", "banks"};
  EXPECT_EQ(core::nearest_word("latnecy_ns", keys), "latency_ns");
  EXPECT_EQ(core::nearest_word("bank", keys), "banks");
  EXPECT_EQ(core::nearest_word("colour", keys), "");
  EXPECT_EQ(core::nearest_word("", keys), "");
}

TEST(dram_layout, areas_are_apart_and_inside_memory) {
  gen::image_header model;
  model.layers = 6, model.kv_heads = 2, model.head_length = 32, model.context = 1024;
  constexpr std::uint64_t dram = 64U << 20;
  const dram_layout layout = place_in_dram(model, 1'500'001, dram);
  // Two bf16 tensors for every layer, head and position.
  EXPECT_EQ(layout.kv_bytes, 2U * 2 * 6 * 2 * 32 * 1024);
  struct area {
    std::uint64_t first, bytes;
  };
  const area areas[] = {{layout.request, sizeof(gen::request_record)},
                        {layout.result, sizeof(gen::result_record)},
                        {layout.progress, sizeof(gen::progress_record)},
                        {layout.tokens, 4U * 1024},
                        {layout.image, layout.image_bytes},
                        {layout.kv, layout.kv_bytes},
                        {layout.work, layout.work_bytes}};
  std::uint64_t end = gen::system::dram_base;
  for (const auto& a : areas) {
    EXPECT_GE(a.first, end);
    EXPECT_EQ(a.first % 64, 0U);
    end = a.first + a.bytes;
  }
  EXPECT_LE(end, gen::system::dram_base + dram);
}

TEST(dram_layout, a_model_that_does_not_fit_is_refused_with_both_sizes) {
  gen::image_header model;
  model.context = 16;
  try {
    place_in_dram(model, 64U << 20, 32U << 20);
    FAIL() << "accepted";
  } catch (const usage_error& error) {
    EXPECT_NE(std::string(error.what()).find("33554432"), std::string::npos) << error.what();
  }
}

TEST(run_options, numbers_are_whole_or_refused) {
  const run_options options = parse_run_options({"--prompt", "a", "-p", "b", "--seed", "18446744073709551615"});
  EXPECT_EQ(options.prompts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options.seed, UINT64_MAX);
  for (const char* text : {"18446744073709551616", "1.5", "", " 1", "0x10", "1k"}) {
    EXPECT_THROW(parse_run_options({"--prompt", "a", "--seed", text}), usage_error) << text;
  }
}

}  // namespace
}  // namespace dvp::platform
