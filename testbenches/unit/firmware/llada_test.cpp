// Loops 1 and 2 with caches, rules, editing and drafts, forward by forward.
//
// What a forward worked on is read off its descriptors: the embedding's gather lists name the rows and the tokens they
// had, drafts included. The test computes the same rows in double precision, with a cache of its own that goes stale in
// the same way, and asks whether the rows are those of the published loop and the tokens what its rules allow.
#include <algorithm>
#include <map>
#include <set>

#include "dvp_gen/descriptor.h"
#include "firmware/dllm/request.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"

namespace dvp {
namespace {

using gen::cache_mode;
using gen::commit_rule;
using gen::progress_kind;
using gen::result_code;
using testbench::bench;
using testbench::tiny_model;
using testbench::tiny_options;

// Two probabilities this close may be ordered either way: activations carry 8 significant bits.
double slack(double p) {
  return 0.1 * p + 0.01;
}

struct llada_case {
  const char* name;
  tiny_options model;
  std::uint32_t prompt;
  std::uint32_t generate;
  std::uint32_t block;
  std::uint32_t steps = 0;
  cache_mode cache = cache_mode::none;
  commit_rule rule = commit_rule::threshold;
  float threshold = 0.5f;
  float factor = 1.0f;
  std::uint16_t flags = 0;
  float edit_threshold = 0;
  std::uint32_t edit_steps = 0;
  std::uint32_t trigger = 0;
  std::uint32_t look_ahead = 0;
  float draft_threshold = 0.3f;
  std::uint32_t row_tile = 0;
};

constexpr tiny_options dream(std::uint32_t seed) {
  return {.seed = seed, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2};
}

const llada_case cases[] = {
    {.name = "none_threshold",
     .model = {.seed = 61},
     .prompt = 21,
     .generate = 64,
     .block = 32,
     .cache = cache_mode::none,
     .rule = commit_rule::threshold},
    {.name = "none_factor",
     .model = {.seed = 62},
     .prompt = 9,
     .generate = 48,
     .block = 16,
     .cache = cache_mode::none,
     .rule = commit_rule::factor,
     .factor = 1.5f},
    {.name = "prefix_threshold",
     .model = {.seed = 63},
     .prompt = 21,
     .generate = 64,
     .block = 32,
     .cache = cache_mode::prefix,
     .rule = commit_rule::threshold},
    {.name = "prefix_count",
     .model = {.seed = 64},
     .prompt = 30,
     .generate = 48,
     .block = 16,
     .steps = 15,
     .cache = cache_mode::prefix,
     .rule = commit_rule::count},
    {.name = "prefix_shifted",
     .model = dream(65),
     .prompt = 18,
     .generate = 64,
     .block = 32,
     .cache = cache_mode::prefix,
     .rule = commit_rule::factor,
     .factor = 2.0f},
    {.name = "dual_threshold",
     .model = {.seed = 66},
     .prompt = 21,
     .generate = 64,
     .block = 32,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold},
    {.name = "dual_count",
     .model = {.seed = 67},
     .prompt = 5,
     .generate = 60,
     .block = 20,
     .steps = 12,
     .cache = cache_mode::dual,
     .rule = commit_rule::count},
    {.name = "dual_shifted_from_one",
     .model = dream(68),
     .prompt = 1,
     .generate = 64,
     .block = 16,
     .cache = cache_mode::dual,
     .rule = commit_rule::by_loop,
     .threshold = 0.4f},
    {.name = "dual_largest_block",
     .model = {.seed = 69},
     .prompt = 3,
     .generate = 128,
     .block = 64,
     .cache = cache_mode::dual,
     .rule = commit_rule::factor,
     .factor = 1.0f},
    {.name = "dual_one_step",
     .model = {.seed = 70},
     .prompt = 8,
     .generate = 32,
     .block = 8,
     .steps = 4,
     .cache = cache_mode::dual,
     .rule = commit_rule::count},
    {.name = "dual_blocks_of_one",
     .model = {.seed = 71},
     .prompt = 8,
     .generate = 5,
     .block = 1,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold},
    {.name = "loop_1_editing",
     .model = {.seed = 72},
     .prompt = 12,
     .generate = 48,
     .block = 16,
     .steps = 12,
     .cache = cache_mode::none,
     .rule = commit_rule::count,
     .edit_threshold = 0.3f,
     .edit_steps = 4},
    {.name = "dual_editing",
     .model = {.seed = 73},
     .prompt = 12,
     .generate = 64,
     .block = 16,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold,
     .threshold = 0.2f,
     .edit_threshold = 0.35f,
     .edit_steps = 6},
    {.name = "prefix_editing_no_extra",
     .model = dream(74),
     .prompt = 12,
     .generate = 64,
     .block = 32,
     .cache = cache_mode::prefix,
     .rule = commit_rule::threshold,
     .threshold = 0.2f,
     .flags = gen::request_flag::threshold_inclusive,
     .edit_threshold = 0.4f},
    {.name = "drafts_fill_the_tile",
     .model = {.seed = 75},
     .prompt = 21,
     .generate = 96,
     .block = 16,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold,
     .trigger = 15,
     .look_ahead = 32,
     .draft_threshold = 0.2f,
     .row_tile = 32},
    {.name = "drafts_of_the_window",
     .model = {.seed = 76},
     .prompt = 10,
     .generate = 96,
     .block = 32,
     .cache = cache_mode::dual,
     .rule = commit_rule::factor,
     .factor = 1.5f,
     .trigger = 33,
     .draft_threshold = 0.25f,
     .row_tile = 32},
    {.name = "drafts_shifted",
     .model = dream(77),
     .prompt = 11,
     .generate = 96,
     .block = 16,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold,
     .threshold = 0.4f,
     .trigger = 64,
     .look_ahead = 20,
     .draft_threshold = 0.2f,
     .row_tile = 8},
    {.name = "drafts_over_blocks",
     .model = {.seed = 78},
     .prompt = 11,
     .generate = 96,
     .block = 8,
     .steps = 48,
     .cache = cache_mode::dual,
     .rule = commit_rule::count,
     .trigger = 4,
     .look_ahead = 32,
     .draft_threshold = 0.1f,
     .row_tile = 32},
    {.name = "drafts_and_editing",
     .model = {.seed = 79},
     .prompt = 11,
     .generate = 96,
     .block = 16,
     .cache = cache_mode::dual,
     .rule = commit_rule::threshold,
     .threshold = 0.3f,
     .edit_threshold = 0.4f,
     .edit_steps = 3,
     .trigger = 9,
     .look_ahead = 32,
     .draft_threshold = 0.2f,
     .row_tile = 32},
};

std::uint64_t fnv(std::uint64_t h, std::uint32_t word) {
  for (int i = 0; i < 4; ++i) {
    h ^= word >> (8 * i) & 0xffu;
    h *= 1099511628211u;
  }
  return h;
}

// What one forward worked on.
struct worked_rows {
  std::uint32_t first = 0;
  std::vector<std::uint32_t> tokens;  // of the positions from first on

  std::uint32_t end() const { return first + static_cast<std::uint32_t>(tokens.size()); }
};

void ask(bench& b, const llada_case& c) {
  gen::request_record& r = b.request();
  r.loop = c.cache == cache_mode::none && c.rule == commit_rule::count ? gen::decode_loop::llada
                                                                       : gen::decode_loop::fast_dllm_v1;
  r.generate_tokens = c.generate;
  r.block_length = c.block;
  r.steps = c.steps;
  r.cache = c.cache;
  r.rule = c.rule;
  r.threshold = c.threshold;
  r.factor = c.factor;
  r.flags = c.flags;
  r.edit_threshold = c.edit_threshold;
  r.edit_steps = c.edit_steps;
  r.draft_trigger = c.trigger;
  r.draft_look_ahead = c.look_ahead;
  r.draft_threshold = c.draft_threshold;
  r.row_tile = c.row_tile;
}

class follower {
 public:
  follower(tiny_model& model, bench& b, const llada_case& c)
      : model_(model), bench_(b), case_(c), total_(c.prompt + c.generate), cache_(model.empty_forward(total_)) {
    bench_.machine().on_progress = [this] { event(); };
    bench_.machine().tamper = [this](npu::descriptor_view& d) {
      if (d.op() == gen::opcode::dma_gather) {
        gathered(d.as<gen::dma_descriptor>());
      }
    };
  }

  void expect_totals() {
    const gen::result_record& r = bench_.result();
    EXPECT_EQ(r.code, result_code::ok);
    EXPECT_EQ(r.forwards, forwards_);
    EXPECT_EQ(r.rows, rows_);
    EXPECT_EQ(r.committed, case_.generate);
    EXPECT_EQ(r.edits, edits_);
    EXPECT_EQ(r.blocks, case_.generate / case_.block);
    EXPECT_EQ(r.drafts_offered, offered_);
    EXPECT_EQ(r.drafts_accepted, accepted_);
    EXPECT_EQ(r.drafts_rejected, rejected_);
    EXPECT_EQ(r.state_hash, hash_);
    EXPECT_TRUE(drafts_.empty());
    for (const std::string& hazard : bench_.machine().hazards()) {
      ADD_FAILURE() << hazard;
    }
  }

  // (position, token) of each forward that wrote any.
  const std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>>& written() const { return written_; }

 private:
  std::uint32_t shift() const { return model_.options().shift_logits ? 1 : 0; }
  bool editing() const { return case_.edit_threshold > 0; }

  void gathered(const gen::dma_descriptor& d) {
    const std::uint64_t tokens = bench_.request().tokens_address;
    const std::uint32_t first = static_cast<std::uint32_t>((d.list_address - tokens) / sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < d.rows; ++i) {
      seen_[first + i] = bench_.tokens()[first + i];
    }
  }

  worked_rows take_rows() {
    worked_rows w;
    w.first = seen_.begin()->first;
    for (const auto& [position, token] : seen_) {
      EXPECT_EQ(position, w.end()) << "rows are contiguous";
      w.tokens.push_back(token);
    }
    seen_.clear();
    return w;
  }

  void event() {
    const gen::progress_record p = bench_.progress();
    switch (p.kind) {
      case progress_kind::started:
        now_ = bench_.tokens(case_.prompt);
        now_.resize(total_, model_.mask_token());
        break;
      case progress_kind::prefill: {
        EXPECT_NE(case_.flags & gen::request_flag::clear_cache, 0);
        const worked_rows w = take_rows();
        EXPECT_EQ(w.tokens.size(), total_);
        model_.forward_rows(w.tokens, 0, 0, cache_);
        ++forwards_;
        rows_ += total_;
        break;
      }
      case progress_kind::forward:
        forward(p);
        break;
      case progress_kind::block:
        EXPECT_EQ(p.masks_left, 0u);
        EXPECT_TRUE(block_may_end()) << "block at " << p.first;
        in_block_ = edit_only_ = 0;
        break;
      case progress_kind::finished:
        break;
    }
  }

  bool block_may_end() const {
    const bool looked_again = case_.cache == cache_mode::none || in_block_ >= 2;
    const bool settled = !editing() || edit_only_ == case_.edit_steps || (edit_only_ > 0 && last_edits_ == 0);
    return looked_again && settled;
  }

  std::uint32_t masks(std::uint32_t first) const {
    return static_cast<std::uint32_t>(
        std::count(now_.begin() + first, now_.begin() + first + case_.block, model_.mask_token()));
  }

  std::uint32_t stair(std::uint32_t rows) const { return (rows + case_.row_tile - 1) / case_.row_tile; }

  void check_rows(const worked_rows& w, std::uint32_t first) {
    const std::uint32_t end = first + case_.block;
    if (in_block_ == 0 || case_.cache == cache_mode::none) {
      EXPECT_EQ(w.first, 0u);
      EXPECT_EQ(w.end(), total_);
      return;
    }
    if (case_.cache == cache_mode::prefix || case_.trigger == 0) {
      EXPECT_EQ(w.first, first - shift());
      EXPECT_EQ(w.end(), case_.cache == cache_mode::prefix ? total_ : end);
      return;
    }
    const std::uint32_t start = editing() ? first : lowest_before_;
    EXPECT_EQ(w.first, start - shift()) << "from the first position without its own keys and values";
    const std::uint32_t window_end = std::min(start + case_.block, total_);
    const std::uint32_t limit = std::min({window_end + case_.look_ahead, end + 64, total_});
    if (masks(first) >= case_.trigger) {
      EXPECT_EQ(w.end(), window_end);
      return;
    }
    EXPECT_GE(w.end(), window_end);
    EXPECT_LE(w.end(), limit);
    const std::uint32_t rows = static_cast<std::uint32_t>(w.tokens.size());
    EXPECT_EQ(stair(rows), stair(window_end - w.first)) << "no new stair is opened";
    EXPECT_TRUE(w.end() == limit || stair(rows + 1) > stair(rows)) << "and this one is filled";
  }

  // A forward sees the sequence as it is, with the drafts that are held behind the block.
  void check_tokens_seen(const worked_rows& w, std::uint32_t end) {
    for (std::uint32_t i = w.first; i < w.end(); ++i) {
      const auto draft = drafts_.find(i);
      EXPECT_EQ(w.tokens[i - w.first], i >= end && draft != drafts_.end() ? draft->second : now_[i]) << i;
    }
  }

  // The samples that the forward left are near the reference; from here on they are taken at their word.
  std::map<std::uint32_t, gen::sample_record> read_samples(const std::vector<std::uint32_t>& asked) {
    std::map<std::uint32_t, gen::sample_record> samples;
    const std::uint64_t results =
        bench_.request().work_address +
        std::uint64_t{dllm::ring_entries} * (gen::descriptor_bytes + sizeof(gen::completion_record));
    for (const std::uint32_t i : asked) {
      const gen::sample_record s =
          *bench_.machine().at<gen::sample_record>(results + (i - asked.front()) * sizeof(gen::sample_record));
      const testbench::table& p = cache_.probabilities;
      const auto row = p.values.begin() + static_cast<std::ptrdiff_t>(i - shift()) * p.columns;
      const double best = *std::max_element(row, row + p.columns);
      EXPECT_GE(p.at(i - shift(), s.token) + slack(best), best) << "position " << i;
      EXPECT_NEAR(static_cast<double>(s.confidence), best, slack(best)) << "position " << i;
      samples[i] = s;
    }
    return samples;
  }

  // Positions by the rule, from the definitions.
  std::set<std::uint32_t> by_rule(std::vector<std::uint32_t> masks,
                                  std::map<std::uint32_t, gen::sample_record>& samples) const {
    std::stable_sort(masks.begin(), masks.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return samples[a].confidence > samples[b].confidence; });
    const bool inclusive = (case_.flags & gen::request_flag::threshold_inclusive) != 0;
    std::size_t n = masks.empty() ? 0 : 1;
    if (case_.rule == commit_rule::count) {
      const std::uint32_t steps = case_.steps / (case_.generate / case_.block);
      n = std::min<std::size_t>(masks.size(), case_.block / steps + (in_block_ < case_.block % steps ? 1 : 0));
    }
    for (std::size_t i = 1; i < masks.size() && case_.rule != commit_rule::count; ++i) {
      const float c = samples[masks[i]].confidence;
      const float left = case_.rule == commit_rule::factor ? static_cast<float>(i + 2) * (1 - c) : case_.threshold;
      const float right = case_.rule == commit_rule::factor ? case_.factor : c;
      n += left < right || (inclusive && left == right) ? 1 : 0;
    }
    return {masks.begin(), masks.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  void forward(const gen::progress_record& p) {
    const worked_rows w = take_rows();
    const std::uint32_t mask = model_.mask_token();
    const std::uint32_t end = p.first + case_.block;
    EXPECT_EQ(p.forward, forwards_);
    check_rows(w, p.first);
    std::map<std::uint32_t, std::uint32_t> of_block;
    if (in_block_ == 0) {
      const auto behind = drafts_.lower_bound(end);
      of_block.insert(drafts_.begin(), behind);
      drafts_.erase(drafts_.begin(), behind);
    }
    check_tokens_seen(w, end);
    model_.forward_rows(w.tokens, w.first, 0, cache_);

    std::vector<std::uint32_t> masked, asked;
    for (std::uint32_t i = p.first; i < end; ++i) {
      if (now_[i] == mask) {
        masked.push_back(i);
      }
      if (now_[i] == mask || editing()) {
        asked.push_back(i);
      }
    }
    const bool drafting = in_block_ != 0 && masked.size() < case_.trigger;
    for (std::uint32_t i = end; i < w.end() && drafting; ++i) {
      if (drafts_.count(i) == 0) {
        asked.push_back(i);
      }
    }
    auto samples = read_samples(asked);

    std::set<std::uint32_t> chosen = by_rule(masked, samples);
    std::stable_sort(masked.begin(), masked.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return samples[a].confidence > samples[b].confidence; });
    std::uint32_t accepted = 0;
    for (std::size_t i = 0; i < std::min(of_block.size(), masked.size()); ++i) {
      const auto draft = of_block.find(masked[i]);
      if (draft != of_block.end() && draft->second == samples[masked[i]].token) {
        chosen.insert(masked[i]);
        ++accepted;
      }
    }
    accepted_ += accepted;
    rejected_ += static_cast<std::uint32_t>(of_block.size()) - accepted;

    std::vector<std::uint32_t> expected = now_;
    std::uint32_t edits = 0;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> written;
    for (std::uint32_t i = p.first; i < end; ++i) {
      const bool edit =
          editing() && now_[i] != mask && samples[i].token != now_[i] && samples[i].confidence > case_.edit_threshold;
      edits += edit ? 1 : 0;
      if (edit || chosen.count(i) != 0) {
        expected[i] = samples[i].token;
        written.emplace_back(i, samples[i].token);
        for (const std::uint32_t word : {forwards_, i, samples[i].token}) {
          hash_ = fnv(hash_, word);
        }
      }
    }
    EXPECT_EQ(bench_.tokens(total_), expected) << "forward " << forwards_;
    now_ = bench_.tokens(total_);
    if (!written.empty()) {
      written_.push_back(written);
    }
    for (std::uint32_t i = end; i < w.end() && drafting; ++i) {
      if (drafts_.count(i) == 0 && samples[i].confidence > case_.draft_threshold) {
        drafts_[i] = samples[i].token;
        ++offered_;
      }
    }
    EXPECT_EQ(p.drafts, drafts_.size());
    EXPECT_EQ(p.committed, chosen.size());
    EXPECT_EQ(p.masks_left, masked.size() - chosen.size());
    EXPECT_TRUE(masked.empty() || !chosen.empty()) << "every step makes progress";

    lowest_before_ = masked.empty() ? ~0u : *std::min_element(masked.begin(), masked.end());
    edits_ += edits;
    last_edits_ = edits;
    edit_only_ += masked.empty() ? 1 : 0;
    ++in_block_;
    ++forwards_;
    rows_ += static_cast<std::uint32_t>(w.tokens.size());
  }

  tiny_model& model_;
  bench& bench_;
  const llada_case& case_;
  std::uint32_t total_;
  testbench::reference_forward cache_;
  std::map<std::uint32_t, std::uint32_t> seen_;    // position -> token, of the forward in work
  std::map<std::uint32_t, std::uint32_t> drafts_;  // position -> token, held
  std::vector<std::uint32_t> now_;                 // as everybody outside sees it
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> written_;
  std::uint32_t forwards_ = 0, rows_ = 0, edits_ = 0, offered_ = 0, accepted_ = 0, rejected_ = 0;
  std::uint32_t in_block_ = 0, edit_only_ = 0, last_edits_ = 0, lowest_before_ = 0;
  std::uint64_t hash_ = 14695981039346656037u;
};

class llada_loops : public ::testing::TestWithParam<llada_case> {};

TEST_P(llada_loops, every_forward_follows_the_rules) {
  const llada_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, c.model.seed + 1000);
  bench b(model, {}, prompt);
  ask(b, c);
  follower f(model, b, c);
  ASSERT_EQ(b.run(), result_code::ok);
  f.expect_totals();
  EXPECT_EQ(b.tokens(c.prompt), prompt) << "the prompt stays";
  EXPECT_EQ(b.result().total_tokens, c.prompt + c.generate);
  EXPECT_TRUE(c.edit_threshold == 0 || b.result().edits != 0) << "the case exercises editing";
  EXPECT_TRUE(c.trigger == 0 || (b.result().drafts_accepted != 0 && b.result().drafts_rejected != 0))
      << "the case exercises drafts: " << b.result().drafts_accepted << " accepted, " << b.result().drafts_rejected
      << " rejected";
}

INSTANTIATE_TEST_SUITE_P(all, llada_loops, ::testing::ValuesIn(cases),
                         [](const auto& shape) { return std::string(shape.param.name); });

struct run_outcome {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> written;
  gen::result_record result;
};

run_outcome run_followed(const llada_case& c) {
  tiny_model model(c.model);
  bench b(model, {}, testbench::random_tokens(model, c.prompt, c.model.seed + 1000));
  ask(b, c);
  follower f(model, b, c);
  EXPECT_EQ(b.run(), result_code::ok);
  f.expect_totals();
  return {f.written(), b.result()};
}

// A cache that is computed afresh before every step changes nothing but the cost.
TEST(llada, a_cleared_cache_commits_the_same_tokens_as_none) {
  for (const commit_rule rule : {commit_rule::count, commit_rule::threshold, commit_rule::factor}) {
    for (const bool shifted : {false, true}) {
      for (const float edit_threshold : {0.0f, 0.4f}) {
        llada_case c{"",  shifted ? dream(91) : tiny_options{.seed = 92}, 13, 32, 16, 10, cache_mode::none, rule, 0.4f,
                     1.5f};
        if (edit_threshold > 0 && rule != commit_rule::threshold) {
          continue;
        }
        c.edit_threshold = edit_threshold;
        c.edit_steps = 3;
        const run_outcome expected = run_followed(c);
        for (const cache_mode cache : {cache_mode::prefix, cache_mode::dual}) {
          SCOPED_TRACE(::testing::Message() << "rule " << static_cast<int>(rule) << " shifted " << shifted << " cache "
                                            << static_cast<int>(cache) << " editing " << edit_threshold);
          c.cache = cache;
          c.flags = 0;
          const run_outcome stale = run_followed(c);
          EXPECT_LT(stale.result.rows, expected.result.rows);
          c.flags = gen::request_flag::clear_cache;
          EXPECT_EQ(run_followed(c).written, expected.written);
          c.cache = cache_mode::none;
        }
        c.flags = 0;
      }
    }
  }
}

// Everything is committed by the first forward of a block; with a cache one more follows all the same.
TEST(llada, a_full_block_gets_one_more_forward_with_a_cache) {
  llada_case c{"", {.seed = 93}, 13, 64, 16, 0, cache_mode::none, commit_rule::threshold, 0.0f};
  EXPECT_EQ(run_followed(c).result.forwards, 4u);
  for (const cache_mode cache : {cache_mode::prefix, cache_mode::dual}) {
    c.cache = cache;
    const run_outcome o = run_followed(c);
    EXPECT_EQ(o.result.forwards, 8u);
    EXPECT_EQ(o.result.denoise_forwards, 4u);
  }
}

TEST(llada, loop_2_without_cache_by_count_is_loop_1) {
  const llada_case c{"", {.seed = 94}, 13, 48, 16, 15, cache_mode::none, commit_rule::count};
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, 95);
  std::vector<std::uint64_t> hashes;
  for (const gen::decode_loop loop : {gen::decode_loop::llada, gen::decode_loop::fast_dllm_v1}) {
    bench b(model, {}, prompt);
    ask(b, c);
    b.request().loop = loop;
    ASSERT_EQ(b.run(), result_code::ok);
    hashes.push_back(b.result().state_hash);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

// A table that says what the row tile says gives the same run; a table with one stair for all gives more drafts.
TEST(llada, drafts_go_as_far_as_the_latency_table_says) {
  llada_case c{"", {.seed = 96}, 11, 96, 16, 0, cache_mode::dual, commit_rule::threshold, 0.5f};
  c.trigger = 12;
  c.look_ahead = 32;
  c.draft_threshold = 0.2f;
  c.row_tile = 8;
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, 97);
  const auto run = [&](const std::vector<gen::latency_entry>& table) {
    bench b(model, {}, prompt);
    ask(b, c);
    const std::uint64_t address = b.request().progress_address + 4096;
    for (std::size_t i = 0; i < table.size(); ++i) {
      *b.machine().at<gen::latency_entry>(address + i * sizeof(gen::latency_entry)) = table[i];
    }
    b.request().latency_address = address;
    b.request().latency_entries = static_cast<std::uint32_t>(table.size());
    EXPECT_EQ(b.run(), result_code::ok);
    EXPECT_TRUE(b.machine().hazards().empty());
    return b.result();
  };
  std::vector<gen::latency_entry> stairs;
  for (std::uint32_t i = 1; i <= 32; ++i) {
    stairs.push_back({8 * i, 1000 * i});
  }
  const gen::result_record by_tile = run({});
  const gen::result_record by_table = run(stairs);
  EXPECT_EQ(by_table.state_hash, by_tile.state_hash);
  EXPECT_EQ(by_table.rows, by_tile.rows);
  const gen::result_record flat = run({{200, 5}});
  EXPECT_GT(flat.drafts_offered, by_tile.drafts_offered);
  const gen::result_record too_short = run({{4, 5}});
  EXPECT_LT(too_short.rows, flat.rows) << "nothing is known about the window's rows: none are added";
}

// With a latency table, not even drafts depend on how the machine cuts its rows.
TEST(llada, tokens_do_not_depend_on_the_machine) {
  for (const std::uint32_t trigger : {0u, 12u}) {
    llada_case c{"", dream(100), 11, 64, 16, 0, cache_mode::dual, commit_rule::threshold, 0.4f};
    c.trigger = trigger;
    c.look_ahead = 32;
    c.draft_threshold = 0.2f;
    c.edit_threshold = 0.6f;
    c.edit_steps = 2;
    tiny_model model(c.model);
    const auto prompt = testbench::random_tokens(model, c.prompt, 101);
    const auto run = [&](const testbench::functional_options& options, std::uint32_t tile) {
      c.row_tile = tile;
      bench b(model, options, prompt);
      ask(b, c);
      b.request().latency_address = b.request().progress_address + 4096;
      b.request().latency_entries = 1;
      *b.machine().at<gen::latency_entry>(b.request().latency_address) = {32, 1};
      EXPECT_EQ(b.run(), result_code::ok);
      EXPECT_TRUE(b.machine().hazards().empty());
      return b.result().state_hash;
    };
    const std::uint64_t expected = run({}, 0);
    EXPECT_EQ(run({.scratchpad_bytes = 256u << 10}, 16), expected);
    EXPECT_EQ(run({.scratchpad_bytes = 128u << 10, .accumulator_vectors = 40}, 8), expected);
  }
}

TEST(llada, a_seed_decides_all_there_is_to_chance) {
  llada_case c{"", {.seed = 102}, 11, 64, 16, 0, cache_mode::dual, commit_rule::threshold, 0.4f};
  c.trigger = 12;
  c.look_ahead = 32;
  c.draft_threshold = 0.2f;
  c.row_tile = 32;
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, 103);
  const auto hash = [&](std::uint64_t seed) {
    bench b(model, {}, prompt);
    ask(b, c);
    b.request().temperature = 1.5f;
    b.request().seed = seed;
    EXPECT_EQ(b.run(), result_code::ok);
    return b.result().state_hash;
  };
  EXPECT_EQ(hash(1), hash(1));
  EXPECT_NE(hash(1), hash(2));
}

TEST(llada, the_run_stops_behind_an_end_token_when_asked) {
  llada_case c{"", {.seed = 98}, 11, 96, 16, 0, cache_mode::dual, commit_rule::threshold, 0.5f};
  c.model.vocabulary = 6;  // so that the end token is common
  c.flags = gen::request_flag::stop_at_end;
  tiny_model model(c.model);
  bench b(model, {}, testbench::random_tokens(model, c.prompt, 99));
  ask(b, c);
  ASSERT_EQ(b.run(), result_code::ok);
  const std::uint32_t total = b.result().total_tokens;
  ASSERT_LT(total, c.prompt + c.generate);
  EXPECT_EQ(b.tokens()[total - 1], model.end_token());
  EXPECT_EQ(std::count(b.tokens() + c.prompt, b.tokens() + total, model.end_token()), 1);
}

}  // namespace
}  // namespace dvp
