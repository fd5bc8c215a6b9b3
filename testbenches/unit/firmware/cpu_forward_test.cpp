// The forward by the CPU: the NPU's bits for random shapes, rows and settings; scattered rows against the forward they
// are a part of; the cost it tells; whole decodes.
#include "firmware/kernels/cpu_forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>

#include "dvp_gen/system.h"
#include "firmware/dllm/decode.h"
#include "firmware/dllm/image.h"
#include "firmware/dllm/request.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"
#include "tlm/numerics/bf16.h"

namespace dvp {
namespace {

using gen::result_code;
using testbench::bench;
using testbench::tiny_model;
using testbench::tiny_options;

constexpr std::uint64_t workspace_at = gen::system::dram_base + (6u << 20);

// One model, two caches; forwards by either engine.
class two_engines {
 public:
  two_engines(tiny_model& model, std::span<const std::uint32_t> tokens, std::uint32_t kept_layers)
      : bench_(model, {.memory_bytes = 16u << 20}, tokens), memory_(std::make_unique<dllm::decode_memory>()) {
    constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
    controller_.start(gen::system::plic_base, sources);
    const gen::request_record& r = bench_.request();
    EXPECT_EQ(dllm::read_image(r.image_address, memory_->model, memory_->weights, memory_->anchors.layers),
              result_code::ok);
    EXPECT_EQ(npu_.probe(gen::system::npu_base), drivers::npu_code::ok);
    EXPECT_EQ(npu_.start(r.work_address, r.work_address + dllm::ring_entries * 64, dllm::ring_entries, 1000),
              drivers::npu_code::ok);
    kernels::run_state& s = memory_->state;
    s.limits = npu_.limits();
    s.stream.start(npu_, dllm::ring_entries);
    s.tokens = r.tokens_address;
    s.results = r.work_address + dllm::ring_entries * 80;
    s.identity = s.results + 2048;
    s.residual = s.identity + 2048;
    s.cache = {.address = r.kv_address, .capacity = model.options().context};
    for (std::uint32_t i = 0; i < 32; ++i) {
      auto* row = static_cast<std::uint16_t*>(machine().memory(s.identity + i * 64, 64));
      std::fill(row, row + 32, std::uint16_t{0});
      row[i] = numerics::to_bf16(1);
    }
    const kernels::plan_request wanted =
        kernels::request_plan(memory_->model, memory_->weights, 0, model.options().context, s.stream.granule_bytes());
    EXPECT_TRUE(kernels::plan_scratchpad(memory_->model, s.limits, wanted, s.plan));
    s.engine = {.address = workspace_at, .rows = model.options().context, .keys = model.options().context};
    s.engine.kept_layers = kept_layers;
    EXPECT_NE(machine().memory(workspace_at, s.engine.bytes(memory_->model) + guard_bytes), nullptr);
  }

  std::vector<gen::sample_record> by_npu(const kernels::forward_pass& pass) {
    EXPECT_EQ(kernels::forward(config(), weights(), state(), pass), drivers::npu_code::ok);
    return records(pass.logits_rows);
  }
  std::vector<gen::sample_record> by_cpu(const kernels::forward_pass& pass) {
    kernels::cpu_forward(config(), weights(), state(), pass);
    return records(pass.logits_rows);
  }
  std::vector<gen::sample_record> scattered(const kernels::cpu_rows& rows) {
    std::vector<gen::sample_record> out(rows.logits_rows);
    kernels::compute_rows(config(), weights(), state().cache, state().engine, rows, out);
    return out;
  }

  std::span<std::byte> cache() {
    const std::uint64_t bytes = state().cache.bytes(config());
    return {static_cast<std::byte*>(machine().memory(state().cache.address, bytes)), bytes};
  }
  std::vector<std::byte> cache_copy() { return {cache().begin(), cache().end()}; }
  // Keys and values that no forward made.
  void fill_cache(std::uint32_t seed) {
    std::minstd_rand random(seed + 1);
    const std::span<std::byte> bytes = cache();
    for (std::size_t i = 0; i < bytes.size(); i += 2) {
      const std::uint16_t element = numerics::to_bf16(static_cast<float>(random() >> 8) * 0x1p-22f - 1);
      std::memcpy(&bytes[i], &element, 2);
    }
  }
  // What lies behind the workspace; passes must leave it alone.
  std::span<std::byte> guard() {
    const std::uint64_t behind = workspace_at + state().engine.bytes(config());
    return {static_cast<std::byte*>(machine().memory(behind, guard_bytes)), guard_bytes};
  }
  float key(std::uint32_t layer, std::uint32_t channel, std::uint32_t position) {
    const std::uint32_t length = config().head_length;
    return element(state().cache.keys(config(), layer, channel / length, position) + channel % length * 2);
  }
  float value(std::uint32_t layer, std::uint32_t channel, std::uint32_t position) {
    return element(state().cache.values(config(), layer, channel, position));
  }
  void set_tokens(std::span<const std::uint32_t> tokens) { std::copy(tokens.begin(), tokens.end(), bench_.tokens()); }

  testbench::functional_machine& machine() { return bench_.machine(); }
  const kernels::config& config() const { return memory_->model; }
  const kernels::weights& weights() const { return memory_->weights; }
  kernels::run_state& state() { return memory_->state; }

 private:
  static constexpr std::uint64_t guard_bytes = 4096;

  std::vector<gen::sample_record> records(std::uint32_t count) {
    const auto* first = machine().at<gen::sample_record>(state().results);
    return {first, first + count};
  }
  float element(std::uint64_t address) { return numerics::from_bf16(*machine().at<std::uint16_t>(address)); }

  bench bench_;
  std::unique_ptr<dllm::decode_memory> memory_;
  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, gen::system::npu_interrupt}};
};

bool same(const std::vector<gen::sample_record>& a, const std::vector<gen::sample_record>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) == 0;
}

class dice {
 public:
  explicit dice(std::uint32_t seed) : random_(seed) {}
  std::uint32_t from(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(random_() >> 8) % (most - least + 1);
  }
  bool coin() { return from(0, 1) == 1; }

 private:
  std::minstd_rand random_;
};

tiny_options random_shape(dice& d, std::uint32_t seed) {
  const bool quantised = d.from(0, 3) != 0;
  const std::uint32_t unit = quantised ? 32 : 1;
  tiny_options o{.seed = seed,
                 .rope_halves = d.coin(),
                 .qkv_bias = d.coin(),
                 .tied = d.coin(),
                 .quantised = quantised,
                 .vocabulary = d.from(3, 200),
                 .width = d.from(1, quantised ? 4 : 100) * unit,
                 .layers = d.from(1, 3),
                 .context = 192};
  // Heads of any even length whose sum the groups allow.
  o.kv_heads = d.from(1, 3);
  o.heads = o.kv_heads * d.from(1, 3);
  o.head_length = 2 * d.from(1, 20);
  if (quantised) {
    o.head_length = 32 / std::gcd(o.heads, 32u) * d.from(1, 2);
    o.head_length += o.head_length % 2 * o.head_length;
  }
  o.ffn_width = d.from(1, quantised ? 40 : 300) * unit;
  return o;
}

// 60 random models, each with a forward over everything and two over stretches of it, the rest from a random cache.
TEST(cpu_forward, has_the_bits_of_the_npu) {
  const std::uint32_t seed = 20261130;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  dice d(seed);
  std::uint64_t rows_seen = 0;
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    const tiny_options shape = random_shape(d, seed + trial);
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ": width " << shape.width << " heads " << shape.heads
                                      << "/" << shape.kv_heads << " of " << shape.head_length << " ffn "
                                      << shape.ffn_width << " quantised " << shape.quantised);
    tiny_model model(shape);
    const std::uint32_t positions = d.from(1, 160);
    two_engines engines(model, testbench::random_tokens(model, positions, trial), 0);
    for (std::uint32_t pass = 0; pass < 3; ++pass) {
      const std::uint32_t first = pass == 0 ? 0 : d.from(0, positions - 1);
      const std::uint32_t rows = pass == 0 ? positions : d.from(1, positions - first);
      const std::uint32_t logits_first = first + d.from(0, rows - 1);
      const kernels::forward_pass forward{.first = first,
                                          .rows = rows,
                                          .keys = d.from(first + rows, positions),
                                          .logits_first = logits_first,
                                          .logits_rows = d.from(0, std::min(first + rows - logits_first, 128u)),
                                          .rule = {.suppressed_token = d.coin() ? model.mask_token() : gen::no_token,
                                                   .temperature = d.coin() ? 0.0f : 0.7f,
                                                   .noise_key = std::uint64_t{trial} << 40 | pass}};
      engines.fill_cache(trial * 10 + pass);
      const std::vector<std::byte> before = engines.cache_copy();
      std::fill(engines.guard().begin(), engines.guard().end(), std::byte{0xa5});
      const auto expected = engines.by_npu(forward);
      const std::vector<std::byte> expected_cache = engines.cache_copy();
      ASSERT_TRUE(before != expected_cache);
      std::copy(before.begin(), before.end(), engines.cache().begin());
      ASSERT_TRUE(same(engines.by_cpu(forward), expected)) << "first " << first << " rows " << rows;
      ASSERT_TRUE(engines.cache_copy() == expected_cache) << "first " << first << " rows " << rows;
      ASSERT_TRUE(
          std::all_of(engines.guard().begin(), engines.guard().end(), [](auto b) { return b == std::byte{0xa5}; }));
      rows_seen += rows;
    }
    ASSERT_TRUE(engines.machine().hazards().empty());
  }
  EXPECT_GT(rows_seen, 5000u);
}

// More rows than a tile and all keys of a long context, against the reference in double precision.
TEST(cpu_forward, agrees_with_double_precision) {
  tiny_model model({.seed = 12, .rope_halves = true, .qkv_bias = true, .kv_heads = 2});
  const auto tokens = testbench::random_tokens(model, 150, 83);
  const testbench::reference_forward expected = model.forward(tokens, 0);
  two_engines engines(model, tokens, 0);
  const auto records = engines.by_cpu(
      {.first = 0, .rows = 150, .keys = 150, .logits_rows = 128, .rule = {.suppressed_token = model.mask_token()}});
  for (std::uint32_t r = 0; r < 150; ++r) {
    for (std::uint32_t c = 0; c < 32; ++c) {
      ASSERT_NEAR(engines.key(1, c, r), expected.keys[1].at(r, c), 0.06);
      ASSERT_NEAR(engines.value(1, c, r), expected.values[1].at(r, c), 0.06);
    }
  }
  for (std::uint32_t r = 0; r < records.size(); ++r) {
    EXPECT_NEAR(records[r].confidence, expected.probabilities.at(r, records[r].token), 0.03) << "row " << r;
  }
}

class scattered_rows : public ::testing::TestWithParam<std::uint32_t> {};

// Some rows at random places, with other tokens than the sequence has. What they must give is what a forward of the NPU
// over all positions would, could it be kept from touching the other rows' keys and values: the test runs it one layer
// deep, where these do not depend on attention, and restores the others' in between.
TEST_P(scattered_rows, are_rows_of_one_forward) {
  const std::uint32_t seed = GetParam();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  dice d(seed);
  for (std::uint32_t trial = 0; trial < 12; ++trial) {
    tiny_options shape = random_shape(d, seed + trial);
    shape.layers = 1;
    tiny_model model(shape);
    const std::uint32_t positions = d.from(2, 128);
    auto tokens = testbench::random_tokens(model, positions, seed + trial);
    two_engines engines(model, tokens, 1);
    (void)engines.by_npu({.first = 0, .rows = positions, .keys = positions, .rule = {}});

    std::vector<std::uint32_t> chosen;
    std::vector<std::uint32_t> others;
    for (std::uint32_t p = 0; p < positions; ++p) {
      if (d.from(0, 5) == 0 || (p + 1 == positions && chosen.empty())) {
        chosen.push_back(p);
        others.push_back(model.mask_token());
        tokens[p] = model.mask_token();
      }
    }
    const kernels::sampling_rule rule{
        .suppressed_token = model.mask_token(), .temperature = d.coin() ? 0.0f : 1.1f, .noise_key = trial};
    const std::vector<std::byte> before = engines.cache_copy();
    const kernels::cpu_rows rows{.positions = chosen,
                                 .tokens = others,
                                 .keys = positions,
                                 .layers = 1,
                                 .logits_rows = static_cast<std::uint32_t>(chosen.size()),
                                 .rule = rule};
    const auto found = engines.scattered(rows);
    ASSERT_TRUE(engines.cache_copy() == before) << "the cache is not this pass's to write";

    // One layer: the other rows' keys and values are what they were, so a whole forward over the changed tokens is
    // the same thing.
    engines.set_tokens(tokens);
    const auto expected =
        engines.by_npu({.first = 0, .rows = positions, .keys = positions, .logits_rows = positions, .rule = rule});
    const std::vector<std::byte> expected_cache = engines.cache_copy();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      ASSERT_EQ(found[i].token, expected[chosen[i]].token);
      ASSERT_EQ(found[i].confidence, expected[chosen[i]].confidence);
    }
    std::copy(before.begin(), before.end(), engines.cache().begin());
    std::vector<std::uint32_t> all(chosen.size());
    std::iota(all.begin(), all.end(), 0u);
    kernels::store_rows(engines.config(), engines.state().engine, rows, all, 0, 1, engines.state().cache);
    ASSERT_TRUE(engines.cache_copy() == expected_cache);
  }
}
INSTANTIATE_TEST_SUITE_P(seeds, scattered_rows, ::testing::Values(301u, 302u));

// The same through several layers, where the rows see one another change, against the reference in double precision.
TEST(cpu_rows, scattered_agree_with_double_precision) {
  tiny_model model({.seed = 17, .rope_halves = true, .qkv_bias = true, .layers = 3, .kv_heads = 2});
  const std::uint32_t n = 70;
  const auto tokens = testbench::random_tokens(model, n, 90);
  testbench::reference_forward expected = model.forward(tokens, 0);
  two_engines engines(model, tokens, 3);
  (void)engines.by_cpu({.first = 0, .rows = n, .keys = n, .rule = {}});
  const std::uint32_t positions[] = {0, 3, 4, 31, 32, 50, 69};
  const std::uint32_t others[] = {5, 6, 7, 8, 9, 10, 11};
  const kernels::cpu_rows rows{.positions = positions,
                               .tokens = others,
                               .keys = n,
                               .layers = 3,
                               .logits_rows = 7,
                               .rule = {.suppressed_token = model.mask_token()}};
  const auto records = engines.scattered(rows);
  const testbench::reference_forward before = expected;
  model.forward_scattered(others, positions, 0, expected);
  const std::uint32_t all[] = {0, 1, 2, 3, 4, 5, 6};
  kernels::store_rows(engines.config(), engines.state().engine, rows, all, 0, 3, engines.state().cache);
  double moved = 0;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    for (std::uint32_t p = 0; p < n; ++p) {
      for (std::uint32_t c = 0; c < 32; ++c) {
        ASSERT_NEAR(engines.key(layer, c, p), expected.keys[layer].at(p, c), 0.08) << layer << " " << p;
        ASSERT_NEAR(engines.value(layer, c, p), expected.values[layer].at(p, c), 0.08) << layer << " " << p;
        moved = std::max(moved, std::abs(expected.keys[layer].at(p, c) - before.keys[layer].at(p, c)));
      }
    }
  }
  EXPECT_GT(moved, 1.0);
  for (std::uint32_t r = 0; r < 7; ++r) {
    EXPECT_NEAR(records[r].confidence, expected.probabilities.at(positions[r], records[r].token), 0.03) << "row " << r;
  }
}

// A block in the middle, as rows that happen to be contiguous: the NPU's forward over that block, which also takes the
// positions around it from the cache, gives the same through all layers. Then only some rows of some layers land.
TEST(cpu_rows, of_a_block_are_the_npus_and_land_where_asked) {
  tiny_model model({.seed = 13, .qkv_bias = true, .layers = 3, .kv_heads = 2});
  const auto tokens = testbench::random_tokens(model, 90, 84);
  two_engines engines(model, tokens, 3);
  (void)engines.by_npu({.first = 0, .rows = 90, .keys = 90, .rule = {}});
  const std::vector<std::byte> before = engines.cache_copy();
  std::vector<std::uint32_t> positions(20);
  std::iota(positions.begin(), positions.end(), 40u);
  std::vector<std::uint32_t> others(20, model.mask_token());
  const kernels::sampling_rule rule{.suppressed_token = model.mask_token()};
  const kernels::cpu_rows rows{.positions = positions,
                               .tokens = others,
                               .keys = 90,
                               .layers = 3,
                               .logits_first = 7,
                               .logits_rows = 9,
                               .rule = rule};
  const auto found = engines.scattered(rows);
  ASSERT_TRUE(engines.cache_copy() == before);

  auto changed = tokens;
  std::copy(others.begin(), others.end(), changed.begin() + 40);
  engines.set_tokens(changed);
  EXPECT_TRUE(
      same(found,
           engines.by_npu({.first = 40, .rows = 20, .keys = 90, .logits_first = 47, .logits_rows = 9, .rule = rule})));
  const std::vector<std::byte> after = engines.cache_copy();

  // Layers 1 and 2 of rows 3 and 11 and nothing else.
  std::copy(before.begin(), before.end(), engines.cache().begin());
  const std::uint32_t chosen[] = {3, 11};
  kernels::store_rows(engines.config(), engines.state().engine, rows, chosen, 1, 2, engines.state().cache);
  const std::vector<std::byte> landed = engines.cache_copy();
  const auto at = [&](std::uint64_t address) { return address - engines.state().cache.address; };
  std::uint32_t changes = 0;
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    for (std::uint32_t channel = 0; channel < 32; ++channel) {
      for (std::uint32_t p = 0; p < 90; ++p) {
        const bool lands = layer >= 1 && (p == 43 || p == 51);
        const std::vector<std::byte>& expected = lands ? after : before;
        const kernels::kv_cache& c = engines.state().cache;
        const std::uint64_t key = at(c.keys(engines.config(), layer, channel / 16, p) + channel % 16 * 2);
        const std::uint64_t value = at(c.values(engines.config(), layer, channel, p));
        for (const std::uint64_t place : {key, value}) {
          ASSERT_EQ(std::memcmp(&landed[place], &expected[place], 2), 0) << layer << " " << channel << " " << p;
          changes += std::memcmp(&landed[place], &before[place], 2) != 0 ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(changes, 2u * 2u * 2u * 32u / 2u);

  // Fewer layers, no head: the same keys and values as far as it goes.
  const kernels::cpu_rows two_layers{.positions = positions, .tokens = others, .keys = 90, .layers = 2, .rule = {}};
  std::copy(before.begin(), before.end(), engines.cache().begin());
  (void)engines.scattered(two_layers);
  kernels::store_rows(engines.config(), engines.state().engine, two_layers, chosen, 1, 1, engines.state().cache);
  const std::vector<std::byte> shallow = engines.cache_copy();
  kernels::kv_cache& c = engines.state().cache;
  const std::uint64_t layer_2 = at(c.keys(engines.config(), 2, 0, 0));
  EXPECT_EQ(std::memcmp(shallow.data(), landed.data(), layer_2), 0);
  EXPECT_EQ(std::memcmp(&shallow[layer_2], &before[layer_2], before.size() - layer_2), 0);
}

// Twice the same pass, other memory contents in between: nothing of the workspace survives into the next one.
TEST(cpu_rows, depend_on_nothing_left_in_the_workspace) {
  tiny_model model({.seed = 14, .kv_heads = 1});
  const auto tokens = testbench::random_tokens(model, 50, 85);
  two_engines engines(model, tokens, 2);
  (void)engines.by_npu({.first = 0, .rows = 50, .keys = 50, .rule = {}});
  const std::uint32_t positions[] = {0, 17, 49};
  const std::uint32_t others[] = {1, 2, 3};
  const kernels::cpu_rows rows{
      .positions = positions, .tokens = others, .keys = 50, .layers = 2, .logits_rows = 3, .rule = {}};
  const auto once = engines.scattered(rows);
  const std::uint64_t bytes = engines.state().engine.bytes(engines.config());
  std::memset(engines.machine().memory(workspace_at, bytes), 0xff, bytes);
  EXPECT_TRUE(same(engines.scattered(rows), once));
}

// What the header promises to tell, against counts of its own: 150 rows are two tiles, 10 rows with logits are one.
TEST(cpu_forward, tells_its_cost) {
  for (const bool quantised : {true, false}) {
    SCOPED_TRACE(quantised ? "q8" : "bf16");
    tiny_model model({.seed = 15, .qkv_bias = true, .quantised = quantised, .kv_heads = 2});
    const tiny_options& o = model.options();
    const auto tokens = testbench::random_tokens(model, 150, 86);
    two_engines engines(model, tokens, 0);
    (void)engines.by_cpu({.first = 0, .rows = 150, .keys = 150, .logits_first = 20, .logits_rows = 10, .rule = {}});
    const std::uint64_t queries = o.heads * o.head_length;
    const std::uint64_t kv = o.kv_heads * o.head_length;
    std::uint64_t macs = 0;
    std::uint64_t elements_streamed = 0;
    const auto blocks_of_4 = [](std::uint64_t rows) { return (rows + 3) / 4 * 4; };
    // By tiles: rows of all heads of a group.
    const auto attended = [&](std::uint64_t rows) {
      const std::uint64_t group = o.heads / o.kv_heads;
      return rows / 128 * blocks_of_4(group * 128) + blocks_of_4(group * (rows % 128));
    };
    const auto product = [&](std::uint64_t rows, std::uint64_t outputs, std::uint64_t inputs) {
      macs += blocks_of_4(rows) * outputs * (inputs + (quantised ? inputs / 32 : 0));
      elements_streamed += (rows + 127) / 128 * outputs * inputs;
    };
    product(10, o.vocabulary, o.width);
    std::uint64_t cache_bytes = 0;
    for (std::uint32_t layer = 0; layer < o.layers; ++layer) {
      const std::uint64_t rows = layer + 1 == o.layers ? 10 : 150;
      product(150, 2 * kv, o.width);
      product(rows, queries, o.width);
      product(rows, o.width, queries);
      product(rows, 2 * o.ffn_width, o.width);
      product(rows, o.width, o.ffn_width);
      macs += 2 * o.kv_heads * attended(rows) * o.head_length * 150;
      cache_bytes += (rows + 127) / 128 * 150 * kv * 2 * 2;
    }
    const testbench::functional_machine& told = engines.machine();
    EXPECT_EQ(told.spent(hal::work::mac), macs);
    EXPECT_EQ(told.streamed(gen::purpose::weights), elements_streamed * (quantised ? 1 : 2));
    EXPECT_EQ(told.streamed(gen::purpose::scales), quantised ? elements_streamed / 32 * 2 : 0);
    EXPECT_EQ(told.streamed(gen::purpose::prefix_kv), cache_bytes);
    EXPECT_EQ(told.streamed(gen::purpose::step_kv), o.layers * kv * (150 + 160) * 2) << "values in whole lines";
    EXPECT_EQ(told.spent(hal::work::copy), 150 * o.layers * 2 * kv * 2);
    EXPECT_EQ(told.spent(hal::work::descriptor), 0u);
    EXPECT_GT(told.watchdog_feeds(), 10 * o.layers) << "a chunk, not a layer, at a time";
  }
}

// The same of a pass over scattered rows: one row costs what a block of four does, and the copy that it is laid over.
TEST(cpu_rows, tell_their_cost) {
  tiny_model model({.seed = 16, .kv_heads = 2});
  const tiny_options& o = model.options();
  const auto tokens = testbench::random_tokens(model, 70, 87);
  two_engines engines(model, tokens, o.layers);
  const std::uint64_t queries = o.heads * o.head_length, kv = o.kv_heads * o.head_length;
  const std::uint64_t inputs = o.width + o.width / 32, wide = o.ffn_width + o.ffn_width / 32;
  const std::uint64_t layer =
      inputs * (queries + 2 * kv + 2 * o.ffn_width) + (queries + queries / 32) * o.width + wide * o.width;
  const std::uint32_t group = o.heads / o.kv_heads;
  for (const std::uint32_t count : {1u, 4u}) {
    const std::uint32_t positions[] = {3, 20, 40, 69};
    const std::uint64_t macs = engines.machine().spent(hal::work::mac),
                        copies = engines.machine().spent(hal::work::copy);
    const kernels::cpu_rows rows{.positions = std::span(positions).first(count),
                                 .tokens = std::span(positions).first(count),
                                 .keys = 70,
                                 .layers = o.layers,
                                 .logits_rows = count,
                                 .rule = {}};
    (void)engines.scattered(rows);
    const std::uint64_t attended = o.kv_heads * ((group * count + 3) / 4 * 4) * o.head_length * 70;
    EXPECT_EQ(engines.machine().spent(hal::work::mac) - macs,
              4 * o.vocabulary * inputs + o.layers * (4 * layer + 2 * attended))
        << count;
    EXPECT_EQ(engines.machine().spent(hal::work::copy) - copies, o.layers * 70 * kv * 2 * 2) << count;
    const std::uint64_t stored = engines.machine().streamed(gen::purpose::step_kv);
    const std::uint32_t all[] = {0, 1, 2, 3};
    kernels::store_rows(engines.config(), engines.state().engine, rows, std::span(all).first(count), 0, 1,
                        engines.state().cache);
    EXPECT_EQ(engines.machine().streamed(gen::purpose::step_kv) - stored, count * kv * (2 + 64)) << count;
  }
}

struct decode_case {
  const char* name;
  tiny_options model;
  std::uint32_t prompt;
  void (*ask)(gen::request_record&);
};

const decode_case decodes[] = {
    {"llada", {.seed = 21}, 21, [](auto& r) { r.steps = 16; }},
    {"llada_random",
     {.seed = 22, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2},
     9,
     [](auto& r) {
       r.temperature = 0.8f;
       r.seed = 5;
     }},
    {"v1_dual_drafts",
     {.seed = 66},
     21,
     [](auto& r) {
       r.loop = gen::decode_loop::fast_dllm_v1;
       r.cache = gen::cache_mode::dual;
       r.threshold = 0.3f;
       r.draft_trigger = 12;
       r.draft_look_ahead = 16;
       r.draft_threshold = 0.3f;
       r.row_tile = 16;
     }},
    {"v1_prefix_editing",
     {.seed = 67},
     30,
     [](auto& r) {
       r.loop = gen::decode_loop::fast_dllm_v1;
       r.cache = gen::cache_mode::prefix;
       r.threshold = 0.4f;
       r.edit_threshold = 0.6f;
       r.edit_steps = 3;
     }},
    {"v2",
     {.seed = 31, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2},
     40,
     [](auto& r) { r.threshold = 0.5f; }},
    {"v2_bf16_tied",
     {.seed = 32, .block_causal = true, .shift_logits = true, .tied = true, .quantised = false, .kv_heads = 1},
     5,
     [](auto& r) {
       r.threshold = 0.3f;
       r.temperature = 0.5f;
     }},
};

class whole_decode : public ::testing::TestWithParam<decode_case> {};

TEST_P(whole_decode, is_the_same_on_both_engines) {
  const decode_case& c = GetParam();
  tiny_model model(c.model);
  const auto prompt = testbench::random_tokens(model, c.prompt, 87);
  struct outcome {
    std::vector<std::uint32_t> tokens;
    gen::result_record result;
  };
  const auto decode = [&](gen::forward_engine engine) {
    const bool npu = engine == gen::forward_engine::npu;
    bench b(model, {.memory_bytes = 16u << 20, .npu_present = npu}, prompt);
    c.ask(b.request());
    b.request().engine = engine;
    b.request().work_address = workspace_at;
    b.request().work_bytes = 4u << 20;
    EXPECT_EQ(b.run(), result_code::ok);
    EXPECT_EQ(b.machine().descriptors() != 0, npu);
    return outcome{b.tokens(c.prompt + b.request().generate_tokens), b.result()};
  };
  const outcome npu = decode(gen::forward_engine::npu);
  outcome cpu = decode(gen::forward_engine::cpu);
  EXPECT_EQ(npu.tokens, cpu.tokens);
  EXPECT_EQ(cpu.result.descriptors, 0u);
  cpu.result.descriptors = npu.result.descriptors;
  EXPECT_EQ(std::memcmp(&npu.result, &cpu.result, sizeof npu.result), 0) << "hash, forwards, rows, all counters";
}
INSTANTIATE_TEST_SUITE_P(loops, whole_decode, ::testing::ValuesIn(decodes),
                         [](const auto& c) { return std::string(c.param.name); });

// A stride that leads nowhere is nothing to follow when there is one row.
TEST(cpu_engine, strays_nowhere) {
  tiny_model model({.seed = 23, .qkv_bias = true});
  for (gen::tensor_entry& e : model.entries()) {
    if (e.rows == 1) {
      e.row_bytes = 0xffff'fffc;
    }
  }
  const auto tokens = testbench::random_tokens(model, 30, 91);
  two_engines engines(model, tokens, 0);
  const kernels::forward_pass pass{.first = 0, .rows = 30, .keys = 30, .logits_rows = 30, .rule = {}};
  const auto expected = engines.by_npu(pass);
  EXPECT_TRUE(same(engines.by_cpu(pass), expected));
}

TEST(cpu_engine, must_be_one_there_is) {
  tiny_model model({.seed = 21});
  bench b(model, {}, testbench::random_tokens(model, 20, 92));
  b.request().engine = static_cast<gen::forward_engine>(2);
  EXPECT_EQ(b.run(), result_code::bad_request);
}

// Neither the NPU nor a scratchpad is needed, but room for the CPU's work is.
TEST(cpu_engine, needs_its_workspace) {
  tiny_model model({.seed = 21});
  const auto prompt = testbench::random_tokens(model, 20, 88);
  const auto code_with = [&](std::uint64_t work_bytes) {
    bench b(model, {.memory_bytes = 16u << 20, .npu_present = false}, prompt);
    b.request().engine = gen::forward_engine::cpu;
    b.request().work_address = workspace_at;
    b.request().work_bytes = work_bytes;
    return b.run();
  };
  std::uint64_t too_few = 32u << 10;
  std::uint64_t enough = 4u << 20;
  while (enough - too_few > 1) {
    const std::uint64_t middle = (too_few + enough) / 2;
    (code_with(middle) == result_code::ok ? enough : too_few) = middle;
  }
  EXPECT_EQ(code_with(too_few), result_code::too_long);
  const std::uint64_t residual = 84u * 64 * 4;
  EXPECT_GT(enough, 2 * residual + (32u << 10));
}

}  // namespace
}  // namespace dvp
