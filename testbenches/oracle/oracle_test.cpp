// The oracle itself, on networks small enough to work out by hand or to check by an identity.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "testbenches/lib/gguf_writer.h"
#include "testbenches/oracle/decode.h"
#include "testbenches/oracle/replay.h"
#include "testbenches/oracle/trajectory_file.h"
#include "testbenches/oracle/vocabulary.h"

namespace dvp::oracle {
namespace {

constexpr std::uint32_t seed = 8128;

class random_source {
 public:
  matrix normal(std::size_t rows, std::size_t columns, double spread) {
    matrix m{rows, columns, std::vector<double>(rows * columns)};
    for (double& v : m.values) v = spread * normal_(engine_);
    return m;
  }
  token below(token limit) { return static_cast<token>(engine_() % limit); }

 private:
  std::mt19937 engine_{seed};
  std::normal_distribution<double> normal_;
};

// spread 0 switches attention and feed-forward off.
network make_network(random_source& source, bool halves, double spread, std::size_t layers = 2) {
  network n;
  n.shape = {.vocabulary = 23,
             .width = 24,
             .heads = 4,
             .kv_heads = 2,
             .head_length = 6,
             .norm_epsilon = 1e-6,
             .rope_base = 100,
             .rope_halves = halves};
  const std::size_t w = n.shape.width;
  n.embedding = source.normal(n.shape.vocabulary, w, 1);
  for (std::size_t l = 0; l < layers; ++l) {
    layer_weights layer{.attn_norm = std::vector<double>(w, 1.0),
                        .q = weight_matrix(source.normal(24, w, spread)),
                        .k = weight_matrix(source.normal(12, w, spread)),
                        .v = weight_matrix(source.normal(12, w, spread)),
                        .output = weight_matrix(source.normal(w, 24, spread)),
                        .q_bias = source.normal(1, 24, spread).values,
                        .k_bias = {},
                        .v_bias = source.normal(1, 12, spread).values,
                        .ffn_norm = std::vector<double>(w, 1.0),
                        .gate = weight_matrix(source.normal(40, w, spread)),
                        .up = weight_matrix(source.normal(40, w, spread)),
                        .down = weight_matrix(source.normal(w, 40, spread))};
    n.layers.push_back(std::move(layer));
  }
  n.output_norm = std::vector<double>(w, 1.0);
  n.head = weight_matrix(source.normal(n.shape.vocabulary, w, 1));
  return n;
}

std::vector<double> logits_of(const network& n, const std::vector<token>& tokens, std::size_t first = 0) {
  key_values past(n.shape, n.layers.size(), first + tokens.size());
  return n.forward(tokens, first, 0, past);
}

TEST(product, equals_the_plain_sums) {
  random_source source;
  for (std::size_t rows : {1u, 3u, 4u, 9u}) {
    for (std::size_t outputs : {1u, 16u, 37u}) {
      const matrix w = source.normal(outputs, 21, 1);
      const matrix x = source.normal(rows, 21, 1);
      const std::vector<double> y = weight_matrix(w).multiply(x.values);
      for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t o = 0; o < outputs; ++o) {
          const double sum = std::inner_product(x.values.begin() + static_cast<std::ptrdiff_t>(r * 21),
                                                x.values.begin() + static_cast<std::ptrdiff_t>((r + 1) * 21),
                                                w.values.begin() + static_cast<std::ptrdiff_t>(o * 21), 0.0);
          ASSERT_DOUBLE_EQ(y[r * outputs + o], sum);
        }
      }
    }
  }
}

TEST(network, without_layers_is_the_head_of_the_normed_embedding) {
  random_source source;
  network n = make_network(source, false, 0.0);
  n.shape.norm_epsilon = 0;
  const matrix head = source.normal(n.shape.vocabulary, n.shape.width, 1);
  n.head = weight_matrix(head);
  const std::vector<double> logits = logits_of(n, {7});
  const double* x = n.embedding.values.data() + 7 * n.shape.width;
  double squares = 0;
  for (std::size_t i = 0; i < n.shape.width; ++i) squares += x[i] * x[i];
  for (std::size_t t = 0; t < n.shape.vocabulary; ++t) {
    double sum = 0;
    for (std::size_t i = 0; i < n.shape.width; ++i) sum += head.values[t * n.shape.width + i] * x[i];
    EXPECT_NEAR(logits[t], sum / std::sqrt(squares / static_cast<double>(n.shape.width)), 1e-12);
  }
}

TEST(network, worked_by_hand) {
  // One head of length 2, base 1 (one radian a position), everything else chosen to be readable: the embedding is
  // (a, b) with norm weights that undo the norm's scale for |x|^2 = 2, so h = x. Token 0 is (1, 1), token 1 is (1, -1).
  network n;
  n.shape = {.vocabulary = 2,
             .width = 2,
             .heads = 1,
             .kv_heads = 1,
             .head_length = 2,
             .norm_epsilon = 0,
             .rope_base = 1,
             .rope_halves = false};
  n.embedding = {2, 2, {1, 1, 1, -1}};
  const weight_matrix identity(matrix{2, 2, {1, 0, 0, 1}});
  const weight_matrix zero(matrix{2, 2, {0, 0, 0, 0}});
  n.layers.push_back({.attn_norm = {1, 1},
                      .q = identity,
                      .k = identity,
                      .v = identity,
                      .output = identity,
                      .q_bias = {},
                      .k_bias = {},
                      .v_bias = {},
                      .ffn_norm = {1, 1},
                      .gate = zero,
                      .up = zero,
                      .down = zero});
  n.output_norm = {1, 1};
  n.head = identity;
  const std::vector<double> logits = logits_of(n, {0, 1});
  // Row 0: q.k is 2 with itself; with row 1, turned by one radian: (1,1).(cos 1 + sin 1, sin 1 - cos 1) = 2 sin 1.
  const double a = std::exp(2 / std::sqrt(2.0));
  const double b = std::exp(2 * std::sin(1.0) / std::sqrt(2.0));
  const double share = a / (a + b);  // of token 0's value
  const double x0 = 1 + 1;
  const double x1 = 1 + share - (1 - share);
  const double scale = 1 / std::sqrt((x0 * x0 + x1 * x1) / 2);
  EXPECT_NEAR(logits[0], x0 * scale, 1e-12);
  EXPECT_NEAR(logits[1], x1 * scale, 1e-12);
}

// Rows of every head in the order (0, 2, 4, ..., 1, 3, 5, ...).
matrix half_split(const matrix& m, std::size_t head_length) {
  matrix result = m;
  for (std::size_t row = 0; row < m.rows; ++row) {
    const std::size_t i = row % head_length;
    const std::size_t target = row - i + (i % 2 == 0 ? i / 2 : head_length / 2 + i / 2);
    std::copy_n(m.values.begin() + static_cast<std::ptrdiff_t>(row * m.columns), m.columns,
                result.values.begin() + static_cast<std::ptrdiff_t>(target * m.columns));
  }
  return result;
}

TEST(network, rotary_halves_are_interleaved_pairs_in_another_order) {
  random_source source;
  network interleaved = make_network(source, false, 0.4, 1);
  network halves = interleaved;
  halves.shape.rope_halves = true;
  const matrix q = source.normal(24, 24, 0.4);
  const matrix k = source.normal(12, 24, 0.4);
  interleaved.layers[0].q_bias.clear();
  halves.layers[0].q_bias.clear();
  interleaved.layers[0].q = weight_matrix(q);
  interleaved.layers[0].k = weight_matrix(k);
  halves.layers[0].q = weight_matrix(half_split(q, 6));
  halves.layers[0].k = weight_matrix(half_split(k, 6));
  const std::vector<token> tokens = {3, 1, 4, 1, 5, 9, 2};
  const std::vector<double> a = logits_of(interleaved, tokens);
  const std::vector<double> b = logits_of(halves, tokens);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12);
  EXPECT_GT(std::fabs(a[0] - logits_of(interleaved, {3, 4, 1, 1, 5, 9, 2})[0]), 1e-6) << "positions matter";
}

TEST(network, a_row_replaces_its_own_keys_and_values) {
  random_source source;
  const network n = make_network(source, true, 0.4);
  const std::vector<token> prefix = {3, 4, 5};
  const std::vector<token> first_try = {6, 7};
  const std::vector<token> second_try = {8, 9};
  key_values used(n.shape, n.layers.size(), 5);
  key_values fresh(n.shape, n.layers.size(), 5);
  n.forward(prefix, 0, 0, used);
  n.forward(prefix, 0, 0, fresh);
  n.forward(first_try, 3, 0, used);
  EXPECT_EQ(n.forward(second_try, 3, 0, used), n.forward(second_try, 3, 0, fresh));
  EXPECT_THROW(n.forward(second_try, 4, 0, fresh), std::runtime_error);
}

settings llada_settings() {
  return {.which = loop::llada,
          .mask = 1,
          .end = 2,
          .shift_logits = false,
          .block_length = 6,
          .sub_block_length = 0,
          .gen_length = 12,
          .steps = 8,
          .threshold = 0,
          .stop_at_end = false};
}

settings fast_settings() {
  return {.which = loop::fast_dllm_v2,
          .mask = 1,
          .end = 2,
          .shift_logits = true,
          .block_length = 8,
          .sub_block_length = 4,
          .gen_length = 24,
          .steps = 0,
          .threshold = 0.5,
          .stop_at_end = false};
}

TEST(prediction, probability_and_odds) {
  const std::vector<double> logits = {0, 50, std::log(3.0), 0, -1e300};
  const prediction p = predict(4, logits.data(), logits.size(), 1);
  EXPECT_EQ(p.best, 2u) << "the mask is left out";
  EXPECT_NEAR(p.probability, 0.6, 1e-15);
  EXPECT_NEAR(p.log_odds, std::log(1.5), 1e-15);
  EXPECT_NEAR(p.log_probabilities[0], std::log(0.2), 1e-15);
  EXPECT_EQ(p.log_probabilities[1], -HUGE_VAL);
  const std::vector<double> tied = {1, 0, 1, 1};
  EXPECT_EQ(predict(0, tied.data(), 4, 1).best, 0u) << "ties to the lower token";
  const std::vector<double> sure = {0, 0, 60};
  EXPECT_NEAR(predict(0, sure.data(), 3, 1).log_odds, 60, 1e-12) << "no cancellation near 1";
}

decision candidates(rule by, std::vector<double> probabilities) {
  decision d{.by = by, .count = 2, .threshold = 0.9};
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const double p = probabilities[i];
    d.candidates.push_back(
        {.position = 10 + i, .best = static_cast<token>(i), .probability = p, .log_odds = std::log(p / (1 - p))});
  }
  return d;
}

TEST(choice, within_factor) {
  using commits = std::vector<commit>;
  const auto choose = [](std::vector<double> probabilities, double factor, bool inclusive) {
    decision d = candidates(rule::within_factor, std::move(probabilities));
    d.factor = factor;
    d.inclusive = inclusive;
    return own_choice(d);
  };
  // The second needs more than 1 - 1/3, the third more than 3/4.
  EXPECT_EQ(choose({0.7, 0.2, 0.75, 0.9}, 1, false), (commits{{12, 2}, {13, 3}}));
  EXPECT_EQ(choose({0.75, 0.2, 0.75, 0.9}, 1, false), (commits{{10, 0}, {13, 3}})) << "equal is not below";
  EXPECT_EQ(choose({0.75, 0.2, 0.75, 0.9}, 1, true), (commits{{10, 0}, {12, 2}, {13, 3}}));
  EXPECT_EQ(choose({0.1, 0.2}, 1, false), (commits{{11, 1}})) << "the best always";
}

TEST(choice, rules_and_ties) {
  using commits = std::vector<commit>;
  EXPECT_EQ(own_choice(candidates(rule::most_confident, {0.2, 0.8, 0.5, 0.5})), (commits{{11, 1}, {12, 2}}));
  EXPECT_EQ(own_choice(candidates(rule::most_confident, {0.2})), (commits{{10, 0}})) << "no more than there are";
  EXPECT_EQ(own_choice(candidates(rule::above_threshold, {0.2, 0.95, 0.9, 0.91})), (commits{{11, 1}, {13, 3}}));
  EXPECT_EQ(own_choice(candidates(rule::above_threshold, {0.9, 0.3, 0.9})), (commits{{10, 0}})) << "strictly above";
}

TEST(decode, llada_schedule) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  const outcome o = decode(n, llada_settings(), {4, 5, 6});
  std::vector<std::size_t> counts;
  for (const step& s : o.steps) {
    counts.push_back(s.commits.size());
    EXPECT_EQ(s.first, 0u);
    EXPECT_EQ(s.rows, 15u) << "a full forward";
    const std::size_t block = s.forward < 4 ? 3 : 9;
    for (const commit& c : s.commits) EXPECT_TRUE(c.position >= block && c.position < block + 6) << c.position;
  }
  EXPECT_EQ(counts, (std::vector<std::size_t>{2, 2, 1, 1, 2, 2, 1, 1})) << "6 masks over 4 steps";
  EXPECT_EQ(o.tokens.size(), 15u);
  EXPECT_EQ(std::count(o.tokens.begin(), o.tokens.end(), 1u), 0);
}

// Token t is followed by t + 1 with near certainty, 12 by the end token 2; a mask says nothing.
network counting_network() {
  random_source source;
  network n = make_network(source, true, 0.0);
  const std::size_t v = n.shape.vocabulary;
  n.shape.width = v;
  n.layers.clear();
  n.embedding = {v, v, std::vector<double>(v * v)};
  matrix head = n.embedding;
  for (std::size_t t = 0; t < v; ++t) {
    n.embedding.values[t * v + t] = 1;
    const std::size_t next = t == 12 ? 2 : (t + 1) % v;
    if (t != 1) head.values[next * v + t] = 4;
  }
  n.output_norm.assign(v, 1.0);
  n.head = weight_matrix(head);
  return n;
}

TEST(decode, fast_dllm_v2_step_by_step) {
  const network n = counting_network();
  settings s = fast_settings();
  // Prompt of one block: its fill predicts 6; then one position a forward, as masks are less sure than the threshold.
  const outcome o = decode(n, s, {5, 5, 5, 5, 5, 5, 5, 5});
  EXPECT_EQ(o.tokens, (std::vector<token>{5, 5, 5, 5, 5, 5, 5, 5, 6, 7, 8, 9, 10, 11, 12, 2}));
  ASSERT_EQ(o.steps.size(), 8u);
  EXPECT_TRUE(o.steps[0].fills);
  EXPECT_EQ(o.steps[0].commits, (std::vector<commit>{{8, 6}}));
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_FALSE(o.steps[i].fills);
    EXPECT_EQ(o.steps[i].commits, (std::vector<commit>{{8 + i, o.tokens[8 + i]}}));
  }
}

TEST(decode, fast_dllm_v2_ends) {
  const network n = counting_network();
  settings s = fast_settings();
  EXPECT_EQ(decode(n, s, {4, 11}).tokens, (std::vector<token>{4, 11, 12, 2})) << "end token inside the block";
  EXPECT_EQ(decode(n, s, {4, 11}).steps.size(), 2u) << "and no forward behind it";
  s.gen_length = 9;
  const outcome limited = decode(n, s, {13, 14});
  EXPECT_EQ(limited.tokens.size(), 11u) << "the limit, in the middle of the second block";
  EXPECT_EQ(limited.tokens.back(), 0u);
  EXPECT_EQ(std::count_if(limited.steps.begin(), limited.steps.end(), [](const step& x) { return x.fills; }), 1);
  s.sub_block_length = 3;
  EXPECT_THROW(decode(n, s, {4}), std::runtime_error);
}

settings v1_settings(cache reuse, rule by, bool shifted) {
  settings s = llada_settings();
  s.which = loop::fast_dllm_v1;
  s.reuse = reuse;
  s.by = by;
  s.shift_logits = shifted;
  s.threshold = 0.4;
  s.factor = 1.5;
  return s;
}

TEST(decode, fast_dllm_v1_works_on_the_published_rows) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  for (const bool shifted : {false, true}) {
    for (const cache reuse : {cache::none, cache::prefix, cache::dual}) {
      const outcome o = decode(n, v1_settings(reuse, rule::above_threshold, shifted), {4, 5, 6});
      std::size_t of_block = 0, block = 3;
      for (const step& s : o.steps) {
        if (of_block != 0 && s.rows == 15 && reuse != cache::none) {
          EXPECT_GE(of_block, 2u) << "one more forward after the full one";
          of_block = 0;
          block = 9;
        }
        const bool whole = of_block == 0 || reuse == cache::none;
        EXPECT_EQ(s.first, whole ? 0 : block - (shifted ? 1 : 0));
        EXPECT_EQ(s.first + s.rows, whole || reuse == cache::prefix ? 15 : block + 6);
        ++of_block;
      }
      EXPECT_EQ(std::count(o.tokens.begin(), o.tokens.end(), 1u), 0);
    }
  }
}

TEST(decode, fast_dllm_v1_with_everything_at_once) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  settings s = v1_settings(cache::dual, rule::above_threshold, false);
  s.threshold = 0;
  const outcome o = decode(n, s, {4, 5, 6});
  ASSERT_EQ(o.steps.size(), 4u);
  EXPECT_EQ(o.steps[0].commits.size(), 6u);
  EXPECT_EQ(o.steps[1].commits.size(), 0u) << "one more forward, although the block is full";
}

std::vector<std::vector<commit>> commits_of(const outcome& o) {
  std::vector<std::vector<commit>> all;
  for (const step& s : o.steps) {
    if (!s.commits.empty()) all.push_back(s.commits);
  }
  return all;
}

TEST(decode, fast_dllm_v1_with_a_cleared_cache_is_the_one_without) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  bool stale_differs = false;
  for (const rule by : {rule::most_confident, rule::above_threshold, rule::within_factor}) {
    for (const bool shifted : {false, true}) {
      const outcome plain = decode(n, v1_settings(cache::none, by, shifted), {4, 5, 6});
      for (const cache reuse : {cache::prefix, cache::dual}) {
        settings s = v1_settings(reuse, by, shifted);
        stale_differs |= commits_of(decode(n, s, {4, 5, 6})) != commits_of(plain);
        s.clear_cache = true;
        EXPECT_EQ(commits_of(decode(n, s, {4, 5, 6})), commits_of(plain));
      }
    }
  }
  EXPECT_TRUE(stale_differs) << "else the cache is not used";
}

TEST(decode, fast_dllm_v1_without_cache_by_count_is_llada) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  EXPECT_EQ(commits_of(decode(n, v1_settings(cache::none, rule::most_confident, false), {4, 5, 6})),
            commits_of(decode(n, llada_settings(), {4, 5, 6})));
}

struct recorded {
  network net;
  settings s;
  trajectory path;
};

recorded record(loop which) {
  random_source source;
  recorded r{make_network(source, which == loop::fast_dllm_v2, 0.4),
             which == loop::llada ? llada_settings() : fast_settings(),
             {}};
  r.path.prompt = {4, 5, 6, 7, 8, 9, 10, 11, 12};
  outcome o = decode(r.net, r.s, r.path.prompt);
  r.path.tokens = std::move(o.tokens);
  r.path.steps = std::move(o.steps);
  return r;
}

TEST(replay, accepts_its_own_decode) {
  for (const loop which : {loop::llada, loop::fast_dllm_v2}) {
    const recorded r = record(which);
    const report found = replay(r.net, r.s, r.path);
    EXPECT_TRUE(found.errors.empty()) << found.errors[0];
    EXPECT_TRUE(found.disagreements.empty());
    EXPECT_GT(found.decisions, 4u);
  }
}

TEST(replay, follows_fast_dllm_v1) {
  random_source source;
  const network n = make_network(source, false, 0.4);
  for (const rule by : {rule::most_confident, rule::above_threshold, rule::within_factor}) {
    const settings s = v1_settings(cache::dual, by, false);
    trajectory path{.prompt = {4, 5, 6}, .tokens = {}, .steps = {}};
    outcome o = decode(n, s, path.prompt);
    path.tokens = std::move(o.tokens);
    path.steps = std::move(o.steps);
    const report same = replay(n, s, path);
    EXPECT_TRUE(same.errors.empty());
    EXPECT_TRUE(same.disagreements.empty());
    if (by == rule::within_factor) {
      settings other = s;
      other.factor = 0.5;  // theirs commits more than this allows
      const report more = replay(n, other, path);
      ASSERT_FALSE(more.disagreements.empty());
      EXPECT_GT(more.worst_margin(), 0);
      other.factor = 2;
      const report fewer = replay(n, other, path);
      EXPECT_TRUE(fewer.worst_margin() > 0 || !fewer.errors.empty());
    }
    // Without the forward that follows a full one, the counts differ.
    trajectory cut = path;
    const auto idle = std::find_if(cut.steps.begin(), cut.steps.end(), [](const step& x) { return x.commits.empty(); });
    if (idle != cut.steps.end()) {
      cut.steps.erase(idle);
      EXPECT_FALSE(replay(n, s, cut).errors.empty());
    }
  }
}

TEST(replay, measures_another_token) {
  recorded r = record(loop::llada);
  commit& last = r.path.steps.back().commits.back();
  last.chosen = last.chosen == 3 ? 4 : 3;
  r.path.tokens[last.position] = last.chosen;
  const report found = replay(r.net, r.s, r.path);
  EXPECT_TRUE(found.errors.empty());
  ASSERT_EQ(found.disagreements.size(), 1u);
  EXPECT_TRUE(found.disagreements[0].of_token);
  EXPECT_EQ(found.disagreements[0].forward, r.path.steps.back().forward);
  EXPECT_GT(found.disagreements[0].margin, 0);
}

TEST(replay, measures_another_position) {
  recorded r = record(loop::llada);
  // The last two steps of a block commit one position each; swapping them is a choice the rule would not make.
  std::swap(r.path.steps[2].commits, r.path.steps[3].commits);
  const report found = replay(r.net, r.s, r.path);
  ASSERT_FALSE(found.disagreements.empty());
  const auto of_positions = std::find_if(found.disagreements.begin(), found.disagreements.end(),
                                         [](const disagreement& d) { return !d.of_token; });
  ASSERT_NE(of_positions, found.disagreements.end());
  EXPECT_EQ(of_positions->forward, 2u);
  EXPECT_GT(of_positions->margin, 0);
  EXPECT_GT(of_positions->confidence_gap, 0);
}

TEST(replay, reports_what_no_margin_excuses) {
  const auto first_error = [](const recorded& r) {
    const report found = replay(r.net, r.s, r.path);
    return found.errors.empty() ? std::string("none") : found.errors[0];
  };
  const recorded good = record(loop::fast_dllm_v2);
  recorded bad = good;
  bad.path.steps[1].commits[0].position += 20;
  EXPECT_NE(first_error(bad).find("not a candidate"), std::string::npos) << first_error(bad);
  bad = good;
  bad.path.steps.pop_back();
  EXPECT_NE(first_error(bad).find("ends before"), std::string::npos) << first_error(bad);
  bad = good;
  bad.path.steps.push_back(bad.path.steps.back());
  EXPECT_NE(first_error(bad).find("goes on"), std::string::npos) << first_error(bad);
  bad = good;
  bad.path.tokens.back() ^= 1;
  EXPECT_NE(first_error(bad).find("final tokens"), std::string::npos) << first_error(bad);
  bad = good;
  bad.path.steps[1].commits[0].chosen = bad.s.mask;
  EXPECT_NE(first_error(bad).find("mask"), std::string::npos) << first_error(bad);
}

TEST(trajectory_file, round_trip) {
  const recorded r = record(loop::fast_dllm_v2);
  nlohmann::ordered_json file = {{"schema", "dllm-vp.trajectory.1"}};
  file["answers"].push_back(to_json({"one", "text", r.path}));
  const std::vector<recorded_answer> back = answers_of(nlohmann::ordered_json::parse(file.dump()));
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].id, "one");
  EXPECT_EQ(back[0].text, "text");
  EXPECT_EQ(back[0].path.prompt, r.path.prompt);
  EXPECT_TRUE(replay(r.net, r.s, back[0].path).errors.empty());
  EXPECT_THROW(answers_of({{"schema", "other"}}), std::runtime_error);
}

std::vector<char> bytes_of(const testbenches::gguf_writer& writer) {
  const testbenches::byte_string built = writer.build();
  std::vector<char> bytes(built.size());
  std::memcpy(bytes.data(), built.data(), built.size());
  return bytes;
}

TEST(gguf_file, tensors_and_keys) {
  testbenches::gguf_writer writer;
  writer.set("number", std::uint32_t{7});
  writer.set("real", 0.5f);
  writer.set("truth", true);
  writer.set_array<std::string>("tokenizer.ggml.tokens", {"<mask>", "A", "\xc4\xa0", "\xc4\x8a"});
  writer.set_array<std::int32_t>("other", {1, 2, 3});
  testbenches::byte_string q8, narrow;
  testbenches::append(q8, std::uint16_t{0x3800});  // 0.5
  for (int i = 0; i < 32; ++i) testbenches::append(q8, static_cast<std::int8_t>(i - 128));
  testbenches::append(narrow, std::uint16_t{0xc000});
  testbenches::append(narrow, std::uint16_t{0x0001});
  writer.tensors = {{"q8", {32, 1}, 8, q8, {}}, {"half", {2}, 1, narrow, {}}, {"bf16", {1, 2}, 30, narrow, {}}};
  const gguf_file file(bytes_of(writer));
  EXPECT_EQ(file.integer("number"), 7u);
  EXPECT_EQ(file.real("real"), 0.5);
  EXPECT_TRUE(file.flag("truth"));
  EXPECT_THROW(file.integer("real"), std::runtime_error);
  EXPECT_THROW(file.integer("absent"), std::runtime_error);
  const matrix m = file.tensor("q8");
  EXPECT_EQ(m.rows, 1u);
  EXPECT_EQ(m.columns, 32u);
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(m.values[i], 0.5 * (static_cast<double>(i) - 128));
  EXPECT_EQ(file.tensor("half").values, (std::vector<double>{-2, 0x1p-24}));
  EXPECT_EQ(file.tensor("bf16").values, (std::vector<double>{-2, 0x1p-133}));
  EXPECT_EQ(file.tensor("bf16").rows, 2u);
  EXPECT_THROW(file.tensor("absent"), std::runtime_error);

  const vocabulary words(file);
  EXPECT_EQ(words.encode("A \n"), (std::vector<token>{1, 2, 3}));
  EXPECT_EQ(words.decode({1, 0, 2}), "A<mask> ");
  EXPECT_THROW(words.encode("B"), std::runtime_error);
}

TEST(gguf_file, cut_short_anywhere) {
  testbenches::gguf_writer writer;
  writer.set("text", "value");
  testbenches::byte_string data(8);
  writer.tensors = {{"t", {2}, 0, data, {}}};
  const std::vector<char> whole = bytes_of(writer);
  for (std::size_t length = 0; length + 32 <= whole.size(); ++length) {
    EXPECT_THROW(gguf_file({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}), std::runtime_error)
        << length;
  }
}

TEST(gguf_file, sizes_that_lie_are_refused) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  const testbenches::byte_string data(64);
  const auto reads = [&](std::vector<std::uint64_t> extents, std::uint32_t type, std::uint32_t alignment) {
    testbenches::gguf_writer writer;
    writer.set("general.alignment", alignment);
    writer.tensors = {{"t", std::move(extents), type, data, {}}};
    gguf_file(bytes_of(writer)).tensor("t");
  };
  EXPECT_NO_THROW(reads({16}, 0, 32));
  EXPECT_THROW(reads({0}, 0, 32), std::runtime_error);
  EXPECT_THROW(reads({4, 0}, 0, 32), std::runtime_error);
  EXPECT_THROW(reads({huge}, 0, 32), std::runtime_error) << "four bytes each wrap to none";
  EXPECT_THROW(reads({huge, 4}, 0, 32), std::runtime_error) << "no element by wrapping";
  EXPECT_THROW(reads({63}, 8, 32), std::runtime_error) << "half a group lies behind the data";
  EXPECT_THROW(reads({16}, 0, 0), std::runtime_error);
  EXPECT_THROW(reads({16}, 0, 1U << 31), std::runtime_error);
}

}  // namespace
}  // namespace dvp::oracle
