// Whole decodes with a compressed cache and an anchored network: what every forward does, that the figures add up, that
// what loses nothing decodes as the rules say, and that failures change nothing they should not.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "testbenches/unit/firmware/compressed_bench.h"

namespace dvp {
namespace {

using gen::compression_record;
using gen::ffn_mode;
using gen::kv_format;
using gen::network_pass;
using gen::precision;
using gen::prefix_reading;
using gen::progress_kind;
using gen::purpose;
using gen::result_code;
using testbench::compressed_bench;
using testbench::functional_options;
using testbench::tiny_model;
using testbench::tiny_options;

constexpr std::uint32_t block = 32, sub_block = 8;

constexpr tiny_options causal(std::uint32_t seed) {
  return {.seed = seed,
          .block_causal = true,
          .shift_logits = true,
          .rope_halves = true,
          .qkv_bias = true,
          .kv_heads = 2,
          .channels = true};
}

struct decode_case {
  const char* name;
  kv_format kv = kv_format::bf16;
  ffn_mode ffn = ffn_mode::whole;
  gen::compression_span map_span = gen::compression_span::block;
  gen::compression_span anchor_span = gen::compression_span::block;
  std::uint32_t rank = 2;
  std::uint32_t refresh = 0;
  bool lossless = false;  // all entries and channels at q8
  std::uint32_t prompt = 70;
  float threshold = 0.5f;
};

std::ostream& operator<<(std::ostream& to, const decode_case& c) {
  return to << c.name;
}

const decode_case cases[] = {
    {.name = "q8_store", .kv = kv_format::q8, .lossless = true},
    {.name = "q8_store_from_nothing", .kv = kv_format::q8, .lossless = true, .prompt = 3},
    {.name = "tiers", .kv = kv_format::brq},
    {.name = "tiers_by_sub_block", .kv = kv_format::brq, .map_span = gen::compression_span::sub_block, .threshold = 2},
    {.name = "tiers_all_q8", .kv = kv_format::brq, .lossless = true},
    {.name = "tiers_with_many_bases", .kv = kv_format::brq, .rank = 3, .refresh = block},
    {.name = "tiers_without_vectors", .kv = kv_format::brq, .rank = 0, .threshold = 2},
    {.name = "anchors", .ffn = ffn_mode::dat},
    {.name = "anchors_by_sub_block", .ffn = ffn_mode::dat, .anchor_span = gen::compression_span::sub_block},
    {.name = "anchors_all_q8", .ffn = ffn_mode::dat, .lossless = true},
    {.name = "both", .kv = kv_format::brq, .ffn = ffn_mode::dat, .threshold = 2},
    {.name = "both_all_q8", .kv = kv_format::brq, .ffn = ffn_mode::dat, .lossless = true, .threshold = 2},
    {.name = "both_by_sub_block",
     .kv = kv_format::brq,
     .ffn = ffn_mode::dat,
     .map_span = gen::compression_span::sub_block,
     .anchor_span = gen::compression_span::sub_block},
};

compression_record record_of(const decode_case& c) {
  compression_record r = testbench::compression_of(c.kv, c.ffn);
  r.map_span = c.map_span;
  r.anchor_span = c.anchor_span;
  r.rank = c.rank;
  r.basis_refresh = c.refresh;
  if (c.lossless) {
    r.share_q8 = 1;
    r.share_q4 = r.share_q2 = 0;
    r.touch_gain = 1000;
    r.touch_q8 = 1;
    r.touch_q4 = 0;
    r.smoothing = 0;
  }
  return r;
}

struct forward_event {
  gen::progress_record record;
  std::vector<std::uint32_t> tokens;  // after it
  std::uint32_t descriptors = 0;      // so far
  bool retried = false;               // it was not the first try
};

// A decode and what its progress events told.
struct decode {
  explicit decode(const decode_case& c, const functional_options& machine = {})
      : model(causal(71)),
        prompt(testbench::random_tokens(model, c.prompt, 72)),
        bench(model, machine, prompt, record_of(c)) {
    bench.request().generate_tokens = 90;
    bench.request().block_length = block;
    bench.request().sub_block_length = sub_block;
    bench.request().threshold = c.threshold;
    bench.machine().on_progress = [this] {
      const gen::progress_record& p = bench.progress();
      if (p.kind == progress_kind::forward || p.kind == progress_kind::prefill) {
        const gen::result_record& r = bench.result();
        events.push_back({p, bench.tokens(p.total_tokens), r.descriptors, r.retried != retried_});
        retried_ = r.retried;
      } else {
        EXPECT_EQ(p.prefix, prefix_reading::whole);
        EXPECT_EQ(p.network, network_pass::whole);
      }
    };
  }
  void restore_prompt() { std::copy(prompt.begin(), prompt.end(), bench.tokens()); }
  result_code run() {
    events.clear();
    retried_ = 0;
    const result_code code = bench.run();
    for (const std::string& hazard : bench.machine().hazards()) {
      ADD_FAILURE() << hazard;
    }
    return code;
  }
  std::vector<std::uint32_t> answer() { return bench.tokens(bench.result().total_tokens); }

  tiny_model model;
  std::vector<std::uint32_t> prompt;
  compressed_bench bench;
  std::vector<forward_event> events;

 private:
  std::uint32_t retried_ = 0;
};

class compressed : public ::testing::TestWithParam<decode_case> {};
class compressed_cache : public compressed {};
class compressed_whole : public compressed {};

// The rules of the spans, from the events alone; what they say must be what the statistics count.
TEST_P(compressed, every_forward_is_accounted_for) {
  const decode_case& c = GetParam();
  decode d(c);
  ASSERT_EQ(d.run(), result_code::ok);
  ASSERT_EQ(d.events.size(), d.bench.result().forwards);
  const compression_record& r = d.bench.record();
  const std::uint32_t width = d.model.options().ffn_width, layers = d.model.options().layers;

  struct totals {
    std::uint64_t whole = 0, mapped = 0, plain = 0, unmapped = 0, maps = 0, encoded = 0, anchors = 0, interiors = 0;
  };
  std::vector<totals> expected(layers);
  std::uint32_t map_forwards = 0, anchor_forwards = 0;
  std::set<std::uint32_t> bases;
  std::int64_t span = -1;  // position where the sub-block in work starts
  for (const forward_event& e : d.events) {
    const gen::progress_record& p = e.record;
    const bool denoises = p.kind == progress_kind::forward;
    const std::uint32_t entries = p.first / block * block;
    const std::uint32_t plain = c.kv == kv_format::brq ? std::min(entries, r.basis_tokens) : entries;
    if (denoises) {
      // What was committed says which sub-block was in work.
      const auto committed = [&] {
        const auto& now = e.tokens;
        const auto& then = (&e)[-1].tokens;
        for (std::uint32_t i = p.first; i < now.size(); ++i) {
          if (now[i] != d.model.mask_token() && (i >= then.size() || then[i] == d.model.mask_token())) {
            return i;
          }
        }
        return ~0u;
      };
      const std::int64_t here = (&e == d.events.data() ? p.first : committed()) / sub_block * sub_block;
      const bool new_block = span < p.first;
      if (new_block || (here != span && c.map_span == gen::compression_span::sub_block)) {
        map_forwards = 0;
      }
      if (new_block || (here != span && c.anchor_span == gen::compression_span::sub_block)) {
        anchor_forwards = 0;
      }
      span = here;
    }
    const bool based = c.kv == kv_format::brq && entries > plain;
    auto reading = prefix_reading::whole;
    auto network = network_pass::whole;
    if (denoises && based) {
      reading = map_forwards == 0   ? prefix_reading::warm_up
                : map_forwards == 1 ? prefix_reading::ranking
                                    : prefix_reading::mapped;
    }
    if (denoises && c.ffn == ffn_mode::dat) {
      network = anchor_forwards == 0 ? network_pass::anchor : network_pass::interior;
    }
    EXPECT_EQ(p.prefix, reading) << p.forward;
    EXPECT_EQ(p.network, network) << p.forward;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
      totals& t = expected[layer];
      const bool attends = layer + 1 < layers || denoises || p.committed != 0;
      if (c.kv != kv_format::bf16 && attends) {
        t.plain += plain;
        (reading == prefix_reading::mapped ? t.mapped : t.unmapped) += entries - plain;
      }
      t.maps += reading == prefix_reading::mapped && map_forwards == 2 ? 1 : 0;
      t.encoded += c.kv != kv_format::bf16 && !denoises ? block : 0;
      t.anchors += network == network_pass::anchor ? 1 : 0;
      t.interiors += network == network_pass::interior ? 1 : 0;
    }
    if (!denoises && based) {
      bases.insert(r.basis_refresh == 0 ? 0 : (entries - r.basis_tokens) / r.basis_refresh);
    } else if (!denoises && c.kv == kv_format::brq && entries == r.basis_tokens) {
      bases.insert(0);
    }
    map_forwards += denoises ? 1 : 0;
    anchor_forwards += denoises ? 1 : 0;
  }
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    SCOPED_TRACE(layer);
    const gen::layer_statistics& s = d.bench.statistics(layer);
    const totals& t = expected[layer];
    EXPECT_EQ(s.plain_reads, t.plain);
    EXPECT_EQ(s.unmapped_reads, t.unmapped);
    EXPECT_EQ(s.map_q8 + s.map_q4 + s.map_q2 + s.map_q0, t.mapped);
    EXPECT_EQ(s.maps, t.maps);
    EXPECT_EQ(s.encoded, t.encoded);
    EXPECT_EQ(s.bases, c.rank == 0 ? 0 : bases.size());
    EXPECT_EQ(s.whole_ffn, t.anchors);
    EXPECT_EQ(s.interior_ffn, t.interiors);
    EXPECT_EQ(s.channels_q8 + s.channels_q4 + s.channels_q2 + s.channels_q0, t.interiors * width);
    if (c.lossless) {
      EXPECT_EQ(s.map_q8, t.mapped);
    } else if (t.mapped != 0) {
      for (const std::uint64_t tier : {s.map_q8, s.map_q4, s.map_q2, s.map_q0}) {
        EXPECT_EQ(tier, t.mapped / 4);
      }
    }
    EXPECT_GE(s.drift_sum, s.drift_most);
    EXPECT_EQ(t.interiors != 0, s.drift_most > 0);
  }
  if (c.kv == kv_format::brq) {
    EXPECT_GT(expected[0].mapped, 0u) << "the case does not show what it is for";
  }
  if (c.ffn == ffn_mode::dat) {
    EXPECT_GT(expected[0].interiors, 0u) << "the case does not show what it is for";
  }
}

// Codes of prefix and channels that the NPU was sent, against the counts of the statistics.
TEST_P(compressed_cache, moved_bytes_follow_from_the_counts) {
  const decode_case& c = GetParam();
  decode d(c);
  ASSERT_EQ(d.run(), result_code::ok);
  std::uint64_t q8 = 0, q4 = 0, q2 = 0;
  for (std::uint32_t layer = 0; layer < d.model.options().layers; ++layer) {
    const gen::layer_statistics& s = d.bench.statistics(layer);
    q8 += s.plain_reads + s.unmapped_reads + s.map_q8;
    q4 += s.map_q4;
    q2 += s.map_q2;
  }
  const std::uint64_t entry = 2 * d.model.options().kv_heads * d.model.options().head_length;
  const auto moved = [&](precision tag) { return d.bench.machine().moved(purpose::prefix_kv, tag); };
  EXPECT_EQ(moved(precision::q8), q8 * entry);
  EXPECT_EQ(moved(precision::q4), q4 * entry / 2);
  EXPECT_EQ(moved(precision::q2), q2 * entry / 4);
}

double slack(double p) {
  return 0.15 * p + 0.02;
}

// Where nothing is narrowed, every committed token is about as likely as the best one of a plain double-precision
// forward.
TEST_P(compressed_whole, at_q8_the_tokens_are_those_of_the_model) {
  const decode_case& c = GetParam();
  decode d(c);
  ASSERT_EQ(d.run(), result_code::ok);
  std::vector<std::uint32_t> then = d.prompt;
  std::uint32_t checked = 0;
  for (const forward_event& e : d.events) {
    const std::uint32_t end = e.record.first + block;
    if (e.record.kind == progress_kind::forward) {
      then.resize(std::max<std::size_t>(then.size(), end), d.model.mask_token());
      const auto expected = d.model.forward(std::span(then).first(end), block);
      for (std::uint32_t i = e.record.first; i < end; ++i) {
        if (e.tokens[i] != then[i]) {
          const auto row = expected.probabilities.values.begin() + (i - 1) * d.model.options().vocabulary;
          const double best = *std::max_element(row, row + d.model.options().vocabulary);
          EXPECT_GE(row[e.tokens[i]] + slack(best), best) << "position " << i;
          ++checked;
        }
      }
    }
    then.assign(e.tokens.begin(), e.tokens.end());
  }
  EXPECT_GT(checked, 40u);
}

TEST_P(compressed, answers_do_not_depend_on_the_run_before_or_on_the_scratchpad) {
  const decode_case& c = GetParam();
  decode d(c);
  ASSERT_EQ(d.run(), result_code::ok);
  const auto answer = d.answer();
  const auto hash = d.bench.result().state_hash;
  const gen::layer_statistics counted = d.bench.statistics(1);
  const auto expect_the_same = [&](decode& again) {
    ASSERT_EQ(again.run(), result_code::ok);
    EXPECT_EQ(again.answer(), answer);
    EXPECT_EQ(again.bench.result().state_hash, hash);
    const gen::layer_statistics& s = again.bench.statistics(1);
    EXPECT_EQ(s.map_q4, counted.map_q4);
    EXPECT_EQ(s.channels_q2, counted.channels_q2);
    EXPECT_EQ(s.drift_sum, counted.drift_sum);
  };
  d.restore_prompt();
  expect_the_same(d);
  decode tighter(c, {.scratchpad_bytes = 512u << 10, .eager = true});
  expect_the_same(tighter);
}

// Spoils the descriptors with these running numbers, counted over the run and resets.
void damage(compressed_bench& b, const std::set<std::uint64_t>& which) {
  b.machine().tamper = [&which, seen = std::uint64_t{0}](npu::descriptor_view& d) mutable {
    if (which.contains(seen++)) {
      auto changed = d.as<gen::vector_descriptor>();
      changed.header.op = static_cast<gen::opcode>(99);
      d = npu::descriptor_view(changed);
    }
  };
}

TEST_P(compressed, a_forward_that_fails_is_made_good) {
  const decode_case& c = GetParam();
  decode clean(c);
  clean.bench.request().retries = 2;
  ASSERT_EQ(clean.run(), result_code::ok);
  // All over the run, and at the end of the first forward, when all that it leaves is in memory already.
  const std::uint64_t all = clean.bench.result().descriptors;
  std::vector<std::uint64_t> places = {clean.events[0].descriptors - 2};
  for (std::uint64_t part = 1; part < 8; ++part) {
    places.push_back(all * part / 8);
  }
  std::uint32_t moved_before = 0;
  for (const std::uint64_t place : places) {
    SCOPED_TRACE(place);
    decode hurt(c);
    hurt.bench.request().retries = 2;
    const std::set<std::uint64_t> which = {place, place + 1};
    damage(hurt.bench, which);
    ASSERT_EQ(hurt.run(), result_code::ok);
    EXPECT_GE(hurt.bench.result().retried, 1u);
    for (std::size_t i = 0; i < hurt.events.size(); ++i) {
      if (hurt.events[i].retried) {
        EXPECT_NE(hurt.events[i].record.network, network_pass::interior);
        moved_before += clean.events[i].record.network == network_pass::interior ? 1 : 0;
      }
    }
    const gen::layer_statistics &s = hurt.bench.statistics(0), &right = clean.bench.statistics(0);
    if (c.ffn == ffn_mode::whole) {
      EXPECT_EQ(hurt.answer(), clean.answer());
      EXPECT_EQ(hurt.bench.result().state_hash, clean.bench.result().state_hash);
      EXPECT_EQ(s.unmapped_reads, right.unmapped_reads);
      EXPECT_EQ(s.map_q2, right.map_q2);
      EXPECT_EQ(s.encoded, right.encoded);
    } else {
      EXPECT_EQ(hurt.answer().size(), hurt.bench.result().total_tokens);
      EXPECT_EQ(s.interior_ffn + s.whole_ffn, hurt.bench.result().denoise_forwards) << "a forward counts once";
    }
  }
  EXPECT_TRUE(c.ffn == ffn_mode::whole || moved_before != 0) << "no forward that moves an anchor was hit";
}

TEST_P(compressed, a_forward_that_fails_too_often_ends_the_run_and_leaves_no_trace) {
  const decode_case& c = GetParam();
  decode d(c);
  ASSERT_EQ(d.run(), result_code::ok);
  const auto answer = d.answer();
  const std::set<std::uint64_t> which = {d.bench.result().descriptors / 2};
  damage(d.bench, which);
  d.restore_prompt();
  EXPECT_EQ(d.run(), result_code::npu_error);
  d.bench.machine().tamper = [](npu::descriptor_view&) {};
  d.restore_prompt();
  EXPECT_EQ(d.run(), result_code::ok);
  EXPECT_EQ(d.answer(), answer);
}

std::vector<decode_case> cases_that(bool (*are)(const decode_case&)) {
  std::vector<decode_case> those;
  std::copy_if(std::begin(cases), std::end(cases), std::back_inserter(those), are);
  return those;
}

std::string name_of(const ::testing::TestParamInfo<decode_case>& each) {
  return each.param.name;
}

INSTANTIATE_TEST_SUITE_P(all, compressed, ::testing::ValuesIn(cases), name_of);
INSTANTIATE_TEST_SUITE_P(all, compressed_cache,
                         ::testing::ValuesIn(cases_that([](const decode_case& c) { return c.kv != kv_format::bf16; })),
                         name_of);
INSTANTIATE_TEST_SUITE_P(all, compressed_whole,
                         ::testing::ValuesIn(cases_that([](const decode_case& c) { return c.lossless; })), name_of);

}  // namespace
}  // namespace dvp
