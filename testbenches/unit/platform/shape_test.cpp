// Shapes and distributions: what a header says is what a shape has, and what is drawn is what is stated.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>
#include <random>

#include "tlm/loader/model_image.h"
#include "tlm/loader/shape_header.h"
#include "tlm/loader/tokenizer.h"
#include "tlm/platform/files.h"
#include "tlm/platform/shape/hf_config.h"
#include "tlm/platform/shape/trajectory_file.h"
#include "tlm/platform/shape/trajectory_model.h"

namespace dvp::platform {
namespace {

// Forwards of one sub-block, counted by playing: each mask is confident with probability q, the best always goes.
double played_forwards(std::uint32_t positions, double q, int games) {
  std::mt19937 random(5);
  std::bernoulli_distribution confident(q);
  std::uint64_t forwards = 0;
  for (int game = 0; game < games; ++game) {
    for (std::uint32_t left = positions; left != 0; ++forwards) {
      std::uint32_t committed = 0;
      for (std::uint32_t i = 0; i < left; ++i) committed += confident(random) ? 1 : 0;
      left -= std::max(1U, committed);
    }
  }
  return static_cast<double>(forwards) / games;
}

TEST(confident_share, gives_the_stated_tokens_per_forward) {
  for (const std::uint32_t positions : {1U, 8U, 32U}) {
    for (const double stated : {1.0, 1.7, 2.8, 6.0}) {
      if (stated > positions) continue;
      const double q = confident_share(positions, stated);
      EXPECT_NEAR(positions / played_forwards(positions, q, 20000), stated, 0.03 * stated) << positions;
    }
  }
  EXPECT_GT(confident_share(8, 8), 0.999);
  EXPECT_LT(confident_share(8, 1), 1e-6);
}

TEST(decision_generator, draws_what_it_states_and_the_same_for_the_same_seed) {
  const decision_distribution stated{.tokens_per_forward = 2, .least_drift = 0.25, .most_drift = 0.5, .run = 4};
  const auto drawn = [&](std::uint64_t seed, std::size_t answer, npu::decision kind, std::size_t words) {
    decision_generator generator(stated, 8, 600, {256, 599}, seed);
    generator.begin(answer);
    std::vector<std::uint32_t> result(words);
    generator.give(kind, 0, result);
    return result;
  };
  const auto samples = drawn(1, 0, npu::decision::sample, 4000);
  for (std::size_t i = 0; i < samples.size(); i += 2) {
    EXPECT_GT(samples[i], 256U);
    EXPECT_LT(samples[i], 599U);
    const float confidence = std::bit_cast<float>(samples[i + 1]);
    EXPECT_TRUE(confidence == 1.0F || (confidence >= 0 && confidence < 1e-3F)) << confidence;
  }
  const auto drift = drawn(1, 0, npu::decision::drift, 2);
  const float relative = std::sqrt(std::bit_cast<float>(drift[0]) / std::bit_cast<float>(drift[1]));
  EXPECT_GE(relative, 0.25F);
  EXPECT_LE(relative, 0.5F);
  const auto order = drawn(1, 0, npu::decision::activity, 400);
  std::map<std::uint32_t, int> of_rank;
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], order[i / 4 * 4]);
    ++of_rank[order[i]];
  }
  EXPECT_EQ(of_rank.size(), 100U);
  EXPECT_EQ(samples, drawn(1, 0, npu::decision::sample, 4000));
  decision_generator after(stated, 8, 600, {256, 599}, 1);
  after.begin(0);
  std::vector<std::uint32_t> others(77), the_same(4000);
  after.give(npu::decision::activity, 0, others);
  after.give(npu::decision::sample, 0, the_same);
  EXPECT_EQ(samples, the_same) << "what else is drawn changes who is confident";
  EXPECT_NE(samples, drawn(2, 0, npu::decision::sample, 4000));
  EXPECT_NE(samples, drawn(1, 1, npu::decision::sample, 4000));
}

// Every position by itself: its first confident prediction either is what every later forward says, and surer than any
// first one, or is nothing to the later ones.
TEST(decision_generator, lets_the_stated_share_of_confident_predictions_stand) {
  const double stated = 0.7;
  decision_generator generator({.tokens_per_forward = 8, .draft_acceptance = stated}, 32, 60000, {}, 3);
  generator.begin(0);
  constexpr std::uint32_t positions = 20000, first = 100;
  std::vector<std::uint32_t> before(2 * positions), after(2 * positions);
  generator.give(npu::decision::sample, first, before);
  // Later, in windows that begin elsewhere.
  for (std::uint32_t i = 0; i < positions; i += 50) {
    generator.give(npu::decision::sample, first + i, std::span(after).subspan(2 * i, 100));
  }
  const auto confidence = [](std::uint32_t word) { return std::bit_cast<float>(word); };
  int confident = 0, stand = 0;
  for (std::uint32_t i = 0; i < 2 * positions; i += 2) {
    if (confidence(before[i + 1]) < 0.99F) continue;
    ++confident;
    EXPECT_LT(confidence(before[i + 1]), 1);
    EXPECT_EQ(after[i] == before[i], confidence(after[i + 1]) == 1) << "one draw in 60000 may meet";
    stand += after[i] == before[i] ? 1 : 0;
  }
  ASSERT_GT(confident, 1000);
  EXPECT_NEAR(stand, stated * confident, 4 * std::sqrt(confident * stated * (1 - stated)));
}

TEST(shape_header, is_read_back_as_the_shape_it_was_made_of) {
  for (const std::string& name : shipped_names(data_root() / "firmware/models/shapes", ".json")) {
    const loader::model_config shape = read_hf_config(find_model_or_shape(name));
    const auto header = loader::shape_header(shape);
    const loader::gguf_file file(name, header, loader::gguf_part::header);
    const loader::model model = loader::read_model(file);
    const loader::model_config& c = model.config;
    EXPECT_EQ(c.architecture, shape.architecture) << name;
    EXPECT_EQ(c.vocabulary, shape.vocabulary) << name;
    EXPECT_EQ(c.width, shape.width) << name;
    EXPECT_EQ(c.layers, shape.layers) << name;
    EXPECT_EQ(c.heads, shape.heads) << name;
    EXPECT_EQ(c.kv_heads, shape.kv_heads) << name;
    EXPECT_EQ(c.head_length, shape.head_length) << name;
    EXPECT_EQ(c.ffn_width, shape.ffn_width) << name;
    EXPECT_EQ(c.context, shape.context) << name;
    EXPECT_EQ(c.mask_token, shape.mask_token) << name;
    EXPECT_EQ(c.end_token, shape.end_token) << name;
    EXPECT_EQ(c.pad_token, shape.pad_token) << name;
    EXPECT_EQ(c.tied_head, shape.tied_head) << name;
    EXPECT_EQ(c.decode.block_length, shape.decode.block_length) << name;
    EXPECT_EQ(c.decode.sub_block_length, shape.decode.sub_block_length) << name;
    const loader::tokenizer tokens(file);
    EXPECT_EQ(tokens.encode("a\xc3\xa9"), (std::vector<std::uint32_t>{0x61, 0xc3, 0xa9})) << name;
    EXPECT_EQ(loader::plan_image(model, {.context_limit = 64}).header.layers, shape.layers) << name;
  }
}

TEST(decisions, come_back_from_json_bit_for_bit) {
  decision_log log;
  log.of(npu::decision::sample) = {{7, std::bit_cast<std::uint32_t>(0.1F), 8, std::bit_cast<std::uint32_t>(1e-30F)}};
  log.of(npu::decision::ranking) = {{0xff800000U, 0x7f800000U, 0x80000000U, 1U}, {}};
  nlohmann::ordered_json document = {
      {"schema", "dllm-vp.trajectory.1"},
      {"model", "m"},
      {"answers", {{{"id", "a"}, {"prompt_tokens", 1}, {"tokens", {3, 4}}, {"decisions", decisions_to_json(log)}}}}};
  const std::string path = testing::TempDir() + "/decisions.json";
  write_text(path, document.dump());
  const trajectory read = read_trajectory(path);
  const auto& answer = std::get<recorded_trajectory>(read.what).answers.at(0);
  EXPECT_EQ(answer.prompt, std::vector<std::uint32_t>{3});
  EXPECT_EQ(answer.decisions.by_kind, log.by_kind);
}

}  // namespace
}  // namespace dvp::platform
