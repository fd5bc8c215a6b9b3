// The decode loops, step by step: after every forward the test recomputes it in double precision, without a cache, from
// the tokens before it, and asks whether what was committed is what the loop's rules allow.
#include <algorithm>
#include <cmath>

#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"

namespace dvp {
namespace {

using gen::progress_kind;
using gen::result_code;
using testbench::bench;
using testbench::functional_options;
using testbench::table;
using testbench::tiny_model;
using testbench::tiny_options;

// Two probabilities this close may be ordered either way: activations carry 8 significant bits.
double slack(double p) {
  return 0.1 * p + 0.01;
}

struct decode_case {
  const char* name;
  tiny_options model;
  std::uint32_t prompt;
  std::uint32_t generate;
  std::uint32_t block;
  std::uint32_t sub_block;  // fast_dllm_v2
  std::uint32_t steps;      // llada
  float threshold;          // fast_dllm_v2
  std::uint16_t flags;
};

constexpr tiny_options causal(std::uint32_t seed) {
  return {
      .seed = seed, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2};
}

const decode_case cases[] = {
    {"llada", {.seed = 21}, 21, 64, 32, 0, 16, 0, 0},
    {"llada_one_per_step", {.seed = 22}, 7, 32, 16, 0, 32, 0, 0},
    {"llada_uneven_steps", {.seed = 23}, 30, 64, 32, 0, 10, 0, gen::request_flag::stop_at_end},
    {"llada_more_steps_than_positions", {.seed = 24}, 1, 16, 8, 0, 32, 0, 0},
    {"llada_shifted",
     {.seed = 25, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2},
     18,
     32,
     32,
     0,
     8,
     0,
     0},
    {"llada_largest_block", {.seed = 26}, 3, 64, 64, 0, 4, 0, 0},
    {"v2_tail_in_first_block", causal(31), 40, 64, 32, 8, 0, 0.5f, 0},
    {"v2_whole_blocks", causal(32), 64, 40, 32, 8, 0, 0.5f, 0},
    {"v2_short_prompt", causal(33), 5, 70, 32, 8, 0, 0.3f, gen::request_flag::threshold_inclusive},
    {"v2_other_blocks", causal(34), 27, 33, 16, 4, 0, 0.6f, 0},
    {"v2_always_only_the_best", causal(35), 10, 20, 8, 8, 0, 2.0f, 0},
    {"v2_all_at_once", causal(36), 16, 24, 64, 64, 0, 0.0f, 0},
    {"v2_blocks_of_one", causal(37), 3, 6, 1, 1, 0, 0.9f, 0},
};

std::uint64_t fnv(std::uint64_t h, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) {
    h ^= word >> (8 * i) & 0xffu;
    h *= 1099511628211u;
  }
  return h;
}

// Follows a run through its progress events.
class follower {
 public:
  follower(tiny_model& model, bench& b, const decode_case& c) : model_(model), bench_(b), case_(c) {
    bench_.machine().on_progress = [this] { event(); };
  }

  void expect_totals() {
    const gen::result_record& r = bench_.result();
    EXPECT_EQ(r.code, result_code::ok);
    EXPECT_EQ(r.forwards, forwards_);
    EXPECT_EQ(r.denoise_forwards, denoise_forwards_);
    EXPECT_EQ(r.committed, committed_);
    EXPECT_EQ(r.blocks, blocks_);
    EXPECT_EQ(r.rows, rows_);
    EXPECT_EQ(r.state_hash, hash_);
    EXPECT_EQ(r.descriptors, bench_.machine().descriptors());
    EXPECT_TRUE(finished_);
    EXPECT_EQ(bench_.machine().spent(hal::work::commit), committed_);
    EXPECT_EQ(bench_.machine().spent(hal::work::descriptor), r.descriptors);
    for (const std::string& hazard : bench_.machine().hazards()) {
      ADD_FAILURE() << hazard;
    }
  }

 private:
  bool llada() const { return case_.steps != 0; }
  std::uint32_t row_of(std::uint32_t position) const { return position - (model_.options().shift_logits ? 1 : 0); }

  void event() {
    const gen::progress_record p = bench_.progress();
    switch (p.kind) {
      case progress_kind::started:
        EXPECT_EQ(p.total_tokens, case_.prompt);
        sequence_ = bench_.tokens(case_.prompt);
        break;
      case progress_kind::forward:
        count_forward(p);
        denoised(p);
        break;
      case progress_kind::prefill:
        count_forward(p);
        prefilled(p);
        break;
      case progress_kind::block:
        ++blocks_;
        EXPECT_EQ(p.masks_left, 0u);
        step_in_block_ = 0;
        break;
      case progress_kind::finished:
        finished_ = true;
        break;
    }
  }

  void count_forward(const gen::progress_record& p) {
    EXPECT_EQ(p.forward, forwards_);
    ++forwards_;
    rows_ += llada() ? case_.prompt + case_.generate : p.length;
  }

  void take(std::uint32_t position, std::uint32_t token) {
    hash_ = fnv(fnv(fnv(hash_, forwards_ - 1), position), token);
  }

  void prefilled(const gen::progress_record& p) {
    EXPECT_EQ(p.length, case_.block);
    EXPECT_EQ(p.first % case_.block, 0u);
    if (p.committed == 0) {
      EXPECT_LT(p.first + p.length, case_.prompt);
      return;
    }
    const std::uint32_t end = p.first + p.length;
    const auto tokens = bench_.tokens(end + 1);
    const auto expected = model_.forward(std::span(tokens).first(end), case_.block);
    take(end, tokens[end]);
    sequence_ = tokens;
    EXPECT_EQ(p.total_tokens, end + 1);
    EXPECT_GE(expected.probabilities.at(end - 1, tokens[end]) + slack(best(expected.probabilities, end - 1)),
              best(expected.probabilities, end - 1));
  }

  double best(const table& probabilities, std::uint32_t row) const {
    const auto first = probabilities.values.begin() + row * probabilities.columns;
    return *std::max_element(first, first + probabilities.columns);
  }

  void denoised(const gen::progress_record& p) {
    const std::uint32_t mask = model_.mask_token();
    const std::uint32_t length = llada() ? case_.prompt + case_.generate : p.first + p.length;
    EXPECT_EQ(p.total_tokens, length);
    sequence_.resize(length, mask);  // a new block shows its masks with its first forward
    const std::vector<std::uint32_t> then = sequence_;
    sequence_ = bench_.tokens(length);
    const std::vector<std::uint32_t>& now = sequence_;

    const auto expected = model_.forward(then, llada() ? 0 : case_.block);
    std::vector<std::uint32_t> candidates;
    for (std::uint32_t i = p.first; i < p.first + p.length; ++i) {
      if (then[i] == mask && (llada() || candidates.empty() || same_sub_block(p.first, candidates[0], i))) {
        candidates.push_back(i);
      }
    }
    std::vector<std::uint32_t> chosen, left;
    for (std::uint32_t i = 0; i < length; ++i) {
      if (now[i] == then[i]) {
        continue;
      }
      EXPECT_EQ(then[i], mask) << "committed tokens never change";
      EXPECT_TRUE(std::find(candidates.begin(), candidates.end(), i) != candidates.end()) << i;
      chosen.push_back(i);
      take(i, now[i]);
      const double most = best(expected.probabilities, row_of(i));
      EXPECT_GE(expected.probabilities.at(row_of(i), now[i]) + slack(most), most) << "position " << i;
    }
    std::set_difference(candidates.begin(), candidates.end(), chosen.begin(), chosen.end(), std::back_inserter(left));
    EXPECT_EQ(p.committed, chosen.size());
    ASSERT_FALSE(chosen.empty());
    committed_ += p.committed;
    ++denoise_forwards_;

    const auto confidence = [&](std::uint32_t i) { return best(expected.probabilities, row_of(i)); };
    double most_left = 0, most_chosen = 0;
    for (const std::uint32_t i : left) {
      most_left = std::max(most_left, confidence(i));
    }
    for (const std::uint32_t i : chosen) {
      most_chosen = std::max(most_chosen, confidence(i));
    }
    EXPECT_GE(most_chosen + slack(most_chosen), most_left) << "the best mask is always committed";
    if (llada()) {
      const std::uint32_t steps = case_.steps / (case_.generate / case_.block);
      EXPECT_EQ(p.committed, case_.block / steps + (step_in_block_ < case_.block % steps ? 1 : 0));
      for (const std::uint32_t i : chosen) {
        EXPECT_GE(confidence(i) + slack(confidence(i)), most_left) << "position " << i;
      }
    } else {
      for (const std::uint32_t i : chosen) {
        EXPECT_TRUE(confidence(i) + slack(confidence(i)) >= case_.threshold || chosen.size() == 1) << "position " << i;
      }
      EXPECT_LE(most_left - slack(most_left), case_.threshold);
    }
    ++step_in_block_;
  }

  bool same_sub_block(std::uint32_t first, std::uint32_t a, std::uint32_t b) const {
    return (a - first) / case_.sub_block == (b - first) / case_.sub_block;
  }

  tiny_model& model_;
  bench& bench_;
  const decode_case& case_;
  std::vector<std::uint32_t> sequence_;  // as it was after the last forward
  std::uint32_t forwards_ = 0, denoise_forwards_ = 0, committed_ = 0, blocks_ = 0, rows_ = 0, step_in_block_ = 0;
  std::uint64_t hash_ = 14695981039346656037u;
  bool finished_ = false;
};

void ask(bench& b, const decode_case& c) {
  gen::request_record& r = b.request();
  r.generate_tokens = c.generate;
  r.block_length = c.block;
  r.sub_block_length = c.sub_block;
  r.steps = c.steps;
  r.threshold = c.threshold;
  r.flags = c.flags;
}

// Prompt and answer, the answer cut behind its first end token where the loop stops there.
std::uint32_t expected_total(bench& b, const tiny_model& model, const decode_case& c) {
  const bool stops = c.steps == 0 || (c.flags & gen::request_flag::stop_at_end) != 0;
  for (std::uint32_t i = c.prompt; stops && i < c.prompt + c.generate; ++i) {
    if (b.tokens()[i] == model.end_token()) {
      return i + 1;
    }
    if (b.tokens()[i] == model.mask_token()) {
      ADD_FAILURE() << "a mask before the end, at " << i;
    }
  }
  return c.prompt + c.generate;
}

class decode_loops : public ::testing::TestWithParam<decode_case> {};

TEST_P(decode_loops, every_step_follows_the_rules) {
  const decode_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, c.model.seed + 1000);
  bench b(model, {}, prompt);
  ask(b, c);
  follower f(model, b, c);
  ASSERT_EQ(b.run(), result_code::ok);
  f.expect_totals();
  EXPECT_EQ(b.result().total_tokens, expected_total(b, model, c));
  EXPECT_EQ(b.tokens(c.prompt), prompt) << "the prompt stays";
}

TEST_P(decode_loops, tokens_do_not_depend_on_the_machine) {
  const decode_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, c.model.seed + 1000);
  std::vector<std::vector<std::uint32_t>> answers;
  std::vector<std::uint64_t> hashes;
  const std::pair<functional_options, std::uint32_t> machines[] = {
      {{}, 0}, {{.scratchpad_bytes = 256u << 10}, 0}, {{.scratchpad_bytes = 128u << 10, .accumulator_vectors = 40}, 8}};
  for (const auto& [options, tile] : machines) {
    bench b(model, options, prompt);
    ask(b, c);
    b.request().row_tile = tile;
    ASSERT_EQ(b.run(), result_code::ok);
    EXPECT_TRUE(b.machine().hazards().empty());
    answers.push_back(b.tokens(b.result().total_tokens));
    hashes.push_back(b.result().state_hash);
  }
  EXPECT_EQ(answers[1], answers[0]);
  EXPECT_EQ(answers[2], answers[0]);
  EXPECT_EQ(hashes[1], hashes[0]);
  EXPECT_EQ(hashes[2], hashes[0]);
}

TEST_P(decode_loops, a_seed_decides_all_there_is_to_chance) {
  const decode_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, c.model.seed + 1000);
  const auto answer = [&](std::uint64_t seed) {
    bench b(model, {}, prompt);
    ask(b, c);
    b.request().temperature = 1.5f;
    b.request().seed = seed;
    EXPECT_EQ(b.run(), result_code::ok);
    return b.tokens(b.result().total_tokens);
  };
  const auto first = answer(1);
  EXPECT_EQ(answer(1), first);
  EXPECT_NE(answer(2), first);
}

INSTANTIATE_TEST_SUITE_P(all, decode_loops, ::testing::ValuesIn(cases),
                         [](const auto& shape) { return std::string(shape.param.name); });

// With the mask token allowed, a position that is committed as the mask is committed all the same.
TEST(decode, an_allowed_mask_cannot_stall_the_run) {
  decode_case c{"", causal(41), 9, 30, 16, 4, 0, 0.4f, gen::request_flag::allow_mask};
  c.model.vocabulary = 4;  // so that the mask is often the best
  tiny_model model(c.model);
  bench b(model, {}, testbench::random_tokens(model, c.prompt, 42));
  ask(b, c);
  EXPECT_EQ(b.run(), result_code::ok);
  EXPECT_LE(b.result().denoise_forwards, 48u);
}

}  // namespace
}  // namespace dvp
