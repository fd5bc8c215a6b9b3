// One forward on the functional machine: against the double-precision forward of the same weights, bit for bit the same
// for every tiling, and free of races.
#include "firmware/kernels/forward.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "dvp_gen/system.h"
#include "firmware/dllm/decode.h"
#include "firmware/dllm/image.h"
#include "firmware/dllm/request.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/bench.h"
#include "tlm/numerics/bf16.h"
#include "tlm/numerics/fp16.h"

namespace dvp {
namespace {

using testbench::bench;
using testbench::functional_options;
using testbench::tiny_model;
using testbench::tiny_options;

// The NPU side of dllm::decode, without a decode loop.
class forward_bench {
 public:
  forward_bench(tiny_model& model, const functional_options& options, const std::vector<std::uint32_t>& tokens,
                std::uint32_t tile_rows, bool anchored = false)
      : bench_(model, options, tokens), memory_(std::make_unique<dllm::decode_memory>()) {
    constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
    controller_.start(gen::system::plic_base, sources);
    const gen::request_record& r = bench_.request();
    EXPECT_EQ(dllm::read_image(r.image_address, memory_->model, memory_->weights, memory_->anchors.layers),
              gen::result_code::ok);
    EXPECT_EQ(npu_.probe(gen::system::npu_base), drivers::npu_code::ok);
    const std::uint64_t records = r.work_address + dllm::ring_entries * 64;
    EXPECT_EQ(npu_.start(r.work_address, records, dllm::ring_entries, 1000), drivers::npu_code::ok);
    kernels::run_state& s = memory_->state;
    s.limits = npu_.limits();
    s.stream.start(npu_, dllm::ring_entries);
    s.tokens = r.tokens_address;
    s.results = records + dllm::ring_entries * 16;
    s.identity = s.results + 2048;
    s.residual = s.identity + 2048;
    s.cache = {.address = r.kv_address, .capacity = model.options().context};
    for (std::uint32_t i = 0; i < 32; ++i) {
      std::uint16_t* row = static_cast<std::uint16_t*>(bench_.machine().memory(s.identity + i * 64, 64));
      std::fill(row, row + 32, std::uint16_t{0});
      row[i] = numerics::to_bf16(1);
    }
    kernels::plan_request wanted = kernels::request_plan(memory_->model, memory_->weights, tile_rows,
                                                         model.options().context, s.stream.granule_bytes());
    wanted.anchored = anchored;
    EXPECT_TRUE(kernels::plan_scratchpad(memory_->model, s.limits, wanted, s.plan));
    if (anchored) {
      anchor_tensors();
    }
  }

  drivers::npu_code code(const kernels::forward_pass& pass) {
    return kernels::forward(memory_->model, memory_->weights, memory_->state, pass);
  }
  void set_token(std::uint32_t position, std::uint32_t token) {
    *bench_.machine().at<std::uint32_t>(memory_->state.tokens + 4 * std::uint64_t{position}) = token;
  }
  void set_policy(kernels::channel_policy& policy) { memory_->anchors.policy = &policy; }

  std::vector<gen::sample_record> run(const kernels::forward_pass& pass) {
    EXPECT_EQ(kernels::forward(memory_->model, memory_->weights, memory_->state, pass), drivers::npu_code::ok);
    const auto* records = bench_.machine().at<gen::sample_record>(memory_->state.results);
    return {records, records + pass.logits_rows};
  }

  float key(std::uint32_t layer, std::uint32_t channel, std::uint32_t position) {
    const kernels::config& m = memory_->model;
    return element(memory_->state.cache.keys(m, layer, channel / m.head_length, position) +
                   channel % m.head_length * 2);
  }
  float value(std::uint32_t layer, std::uint32_t channel, std::uint32_t position) {
    return element(memory_->state.cache.values(memory_->model, layer, channel, position));
  }
  std::vector<std::byte> cache_bytes() {
    const std::uint64_t bytes = memory_->state.cache.bytes(memory_->model);
    const auto* first = static_cast<std::byte*>(bench_.machine().memory(memory_->state.cache.address, bytes));
    return {first, first + bytes};
  }
  testbench::functional_machine& machine() { return bench_.machine(); }
  const kernels::run_state& state() const { return memory_->state; }

 private:
  // The model's own gate and up; down with one scale per channel. Channels in natural order.
  void anchor_tensors() {
    const kernels::config& m = memory_->model;
    testbench::functional_machine& machine = bench_.machine();
    kernels::anchored_ffn& anchors = memory_->anchors;
    std::uint64_t next = gen::system::dram_base + (6u << 20);
    const auto take = [&](std::uint64_t bytes) {
      next += (bytes + 63) / 64 * 64;
      return next - (bytes + 63) / 64 * 64;
    };
    const std::uint32_t groups = m.width / 32;
    const std::uint32_t slots = (2 * groups + 1 + 15) / 16 * 16;
    anchors.order = take(std::uint64_t{4} * m.layers * m.ffn_width);
    anchors.activity = take(std::uint64_t{4} * m.layers * m.ffn_width);
    anchors.drift = take(std::uint64_t{8} * m.layers);
    for (std::uint32_t l = 0; l < m.layers; ++l) {
      const kernels::layer_weights& w = memory_->weights.layers[l];
      kernels::tensor& t = anchors.layers[l].channels;
      t = {.data = take(std::uint64_t{3} * m.width * m.ffn_width),
           .scales = take(std::uint64_t{6} * slots * m.ffn_width),
           .rows = m.ffn_width,
           .columns = 3 * m.width,
           .row_bytes = 3 * m.width,
           .scale_row_bytes = 6 * slots,
           .format = gen::tensor_format::q8_channels};
      for (std::uint32_t j = 0; j < m.ffn_width; ++j) {
        *machine.at<std::uint32_t>(anchors.order + 4 * (std::uint64_t{l} * m.ffn_width + j)) = j;
        auto* codes = static_cast<std::int8_t*>(machine.memory(t.data + std::uint64_t{j} * t.row_bytes, t.row_bytes));
        auto* scales = static_cast<std::uint16_t*>(
            machine.memory(t.scales + std::uint64_t{j} * t.scale_row_bytes, t.scale_row_bytes));
        std::memcpy(codes, machine.memory(w.ffn_gate.data + std::uint64_t{j} * m.width, m.width), m.width);
        std::memcpy(codes + m.width, machine.memory(w.ffn_up.data + std::uint64_t{j} * m.width, m.width), m.width);
        std::memcpy(scales, machine.memory(w.ffn_gate.scales + std::uint64_t{j} * groups * 2, groups * 2), groups * 2);
        std::memcpy(scales + groups, machine.memory(w.ffn_up.scales + std::uint64_t{j} * groups * 2, groups * 2),
                    groups * 2);
        std::vector<float> column;
        float largest = 0;
        for (std::uint32_t o = 0; o < m.width; ++o) {
          const float scale = numerics::from_fp16(*machine.at<std::uint16_t>(
              w.ffn_down.scales + std::uint64_t{o} * w.ffn_down.scale_row_bytes + j / 32 * 2));
          column.push_back(scale * *machine.at<std::int8_t>(w.ffn_down.data + std::uint64_t{o} * m.ffn_width + j));
          largest = std::max(largest, std::abs(column.back()));
        }
        scales[2 * groups] = numerics::to_fp16(largest / 127);
        for (std::uint32_t o = 0; o < m.width; ++o) {
          codes[2 * m.width + o] =
              static_cast<std::int8_t>(std::clamp(std::round(column[o] * 127 / largest), -127.0f, 127.0f));
        }
      }
    }
    memory_->state.anchors = &anchors;
  }

  float element(std::uint64_t address) { return numerics::from_bf16(*bench_.machine().at<std::uint16_t>(address)); }

  bench bench_;
  std::unique_ptr<dllm::decode_memory> memory_;
  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, gen::system::npu_interrupt}};
};

kernels::forward_pass whole(const tiny_model& model, std::uint32_t rows) {
  return {.first = 0,
          .rows = rows,
          .keys = rows,
          .logits_first = 0,
          .logits_rows = std::min(rows, 64u),
          .rule = {.suppressed_token = model.mask_token()}};
}

struct shape_case {
  const char* name;
  tiny_options model;
  std::uint32_t rows;
};

const shape_case shapes[] = {
    {"one_tile", {}, 29},
    {"several_tiles", {.seed = 2}, 75},
    {"one_row", {.seed = 3}, 1},
    {"grouped_heads_bias_halves", {.seed = 4, .rope_halves = true, .qkv_bias = true, .kv_heads = 2}, 64},
    {"one_kv_head_tied", {.seed = 5, .tied = true, .kv_heads = 1}, 33},
    {"bf16_weights", {.seed = 6, .quantised = false, .kv_heads = 2}, 40},
    {"bf16_odd_sizes",
     {.seed = 7,
      .qkv_bias = true,
      .quantised = false,
      .vocabulary = 131,
      .width = 70,
      .heads = 3,
      .kv_heads = 1,
      .head_length = 22,
      .ffn_width = 101},
     37},
    {"wide_head",
     {.seed = 8, .width = 96, .layers = 1, .heads = 2, .kv_heads = 2, .head_length = 48, .ffn_width = 512},
     50},
};

class forward_shapes : public ::testing::TestWithParam<shape_case> {};

TEST_P(forward_shapes, agrees_with_double_precision) {
  tiny_model model(GetParam().model);
  const std::uint32_t rows = GetParam().rows;
  const auto tokens = testbench::random_tokens(model, rows, 77);
  const testbench::reference_forward expected = model.forward(tokens, 0);
  forward_bench device(model, {}, tokens, 0);
  const auto records = device.run(whole(model, rows));

  for (const std::string& hazard : device.machine().hazards()) {
    ADD_FAILURE() << hazard;
  }
  // Activations carry 8 significant bits; errors add up over two layers.
  const std::uint32_t channels = model.options().kv_heads * model.options().head_length;
  for (std::uint32_t layer = 0; layer < model.options().layers; ++layer) {
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t c = 0; c < channels; ++c) {
        ASSERT_NEAR(device.key(layer, c, r), expected.keys[layer].at(r, c), 0.06) << layer << " " << r << " " << c;
        ASSERT_NEAR(device.value(layer, c, r), expected.values[layer].at(r, c), 0.06) << layer << " " << r << " " << c;
      }
    }
  }
  for (std::uint32_t r = 0; r < records.size(); ++r) {
    double best = 0;
    for (std::uint32_t t = 0; t < model.options().vocabulary; ++t) {
      best = std::max(best, expected.probabilities.at(r, t));
    }
    ASSERT_LT(records[r].token, model.mask_token());
    const double chosen = expected.probabilities.at(r, records[r].token);
    EXPECT_NEAR(chosen, best, 0.1 * best + 0.01) << "row " << r;
    EXPECT_NEAR(records[r].confidence, chosen, 0.1 * best + 0.01) << "row " << r;
  }
}

// Tiles, chunks and pieces are a matter of time, never of bits.
TEST_P(forward_shapes, bits_do_not_depend_on_the_tiling) {
  tiny_model model(GetParam().model);
  const std::uint32_t rows = GetParam().rows;
  const auto tokens = testbench::random_tokens(model, rows, 78);
  forward_bench first(model, {}, tokens, 0);
  const auto expected = first.run(whole(model, rows));
  const auto expected_cache = first.cache_bytes();

  const struct {
    functional_options machine;
    std::uint32_t tile_rows;
  } others[] = {
      {{.scratchpad_bytes = 256u << 10}, 0},
      {{.scratchpad_bytes = 96u << 10, .scratchpad_banks = 4, .accumulator_vectors = 24}, 8},
      {{.scratchpad_bytes = 1u << 20}, 128},
      {{.scratchpad_bytes = 512u << 10, .scratchpad_banks = 3}, 5},
  };
  for (const auto& other : others) {
    SCOPED_TRACE(::testing::Message() << other.machine.scratchpad_bytes << " bytes, tile " << other.tile_rows);
    forward_bench device(model, other.machine, tokens, other.tile_rows);
    const auto records = device.run(whole(model, rows));
    for (const std::string& hazard : device.machine().hazards()) {
      ADD_FAILURE() << hazard;
    }
    EXPECT_EQ(std::memcmp(records.data(), expected.data(), records.size() * sizeof(records[0])), 0);
    EXPECT_TRUE(device.cache_bytes() == expected_cache);
  }
}

INSTANTIATE_TEST_SUITE_P(all, forward_shapes, ::testing::ValuesIn(shapes),
                         [](const auto& shape) { return std::string(shape.param.name); });

// Rows of a block over a prefix in the cache give what the same rows give in one forward over everything, when nothing
// before the block sees it.
TEST(forward, prefix_from_the_cache) {
  tiny_model model(
      {.seed = 9, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2});
  const auto tokens = testbench::random_tokens(model, 96, 79);
  const testbench::reference_forward expected = model.forward(tokens, 32);
  forward_bench device(model, {}, tokens, 0);
  for (std::uint32_t first = 0; first < 64; first += 32) {
    (void)device.run({.first = first, .rows = 32, .keys = first + 32, .rule = {}});
  }
  const auto records = device.run({.first = 64,
                                   .rows = 32,
                                   .keys = 96,
                                   .logits_first = 71,
                                   .logits_rows = 8,
                                   .rule = {.suppressed_token = model.mask_token()}});
  EXPECT_TRUE(device.machine().hazards().empty()) << device.machine().hazards()[0];
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    EXPECT_NEAR(records[i].confidence, expected.probabilities.at(71 + i, records[i].token), 0.03);
  }
}

// The checker sees what the waits are for: without one of them, most schedules are no longer proved.
TEST(forward, a_missing_wait_is_found) {
  tiny_model model({.seed = 10, .kv_heads = 2});
  const auto tokens = testbench::random_tokens(model, 40, 80);
  forward_bench untouched(model, {}, tokens, 0);
  (void)untouched.run(whole(model, 40));
  const std::uint32_t waits = static_cast<std::uint32_t>(untouched.machine().waits());

  const std::uint32_t seed = 81;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::minstd_rand random(seed);
  std::uint32_t found = 0;
  constexpr std::uint32_t trials = 40;
  for (std::uint32_t trial = 0; trial < trials; ++trial) {
    forward_bench device(model, {}, tokens, 0);
    std::uint32_t left = 1 + static_cast<std::uint32_t>(random() >> 8) % waits;  // the one that is dropped
    device.machine().tamper = [&](npu::descriptor_view& d) {
      auto descriptor = d.as<gen::vector_descriptor>();
      for (std::uint16_t& wait : descriptor.header.wait) {
        if (wait != 0 && left != 0 && --left == 0) {
          wait = 0;
          d = npu::descriptor_view(descriptor);
        }
      }
    };
    (void)device.run(whole(model, 40));
    ASSERT_EQ(left, 0u);
    found += device.machine().hazards().empty() ? 0 : 1;
  }
  EXPECT_GE(found, trials / 2) << "of " << trials << " dropped waits";
}

// Answers every layer alike.
class fixed_policy final : public kernels::channel_policy {
 public:
  explicit fixed_policy(const kernels::channel_counts& counts) : counts_(counts) {}
  kernels::channel_counts decide(std::uint32_t layer, float moved, float) override {
    EXPECT_EQ(layer, asked);
    ++asked;
    largest = std::max(largest, moved);
    return counts_;
  }
  std::uint32_t asked = 0;
  float largest = 0;

 private:
  kernels::channel_counts counts_;
};

// A block over a prefix with the feed-forward network anchored, as a decode loop uses it.
TEST(forward, anchored_network) {
  tiny_model model(
      {.seed = 12, .block_causal = true, .shift_logits = true, .rope_halves = true, .qkv_bias = true, .kv_heads = 2});
  auto tokens = testbench::random_tokens(model, 64, 83);
  const std::uint32_t layers = model.options().layers;
  const auto start = [&](forward_bench& device) { (void)device.run({.first = 0, .rows = 32, .keys = 32, .rule = {}}); };
  const auto block = [&](kernels::ffn_pass ffn, std::uint32_t logits_first, std::uint32_t logits_rows) {
    return kernels::forward_pass{.first = 32,
                                 .rows = 32,
                                 .keys = 64,
                                 .logits_first = logits_first,
                                 .logits_rows = logits_rows,
                                 .rule = {.suppressed_token = model.mask_token()},
                                 .ffn = ffn};
  };
  const auto same = [](const std::vector<gen::sample_record>& a, const std::vector<gen::sample_record>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;
  };
  forward_bench device(model, {}, tokens, 32, true);
  start(device);
  const auto anchored = device.run(block(kernels::ffn_pass::anchor, 32, 32));
  const testbench::reference_forward expected = model.forward(tokens, 32);
  for (std::uint32_t i = 0; i < anchored.size(); ++i) {
    EXPECT_NEAR(anchored[i].confidence, expected.probabilities.at(32 + i, anchored[i].token), 0.03);
  }

  // The same again: nothing moved in any layer, and other rows have logits.
  fixed_policy none({});
  device.set_policy(none);
  const auto again = device.run(block(kernels::ffn_pass::interior, 41, 9));
  EXPECT_TRUE(same(again, {anchored.begin() + 9, anchored.begin() + 18}));
  EXPECT_EQ(none.asked, layers);
  EXPECT_EQ(none.largest, 0.0f);

  // A whole forward in between leaves the anchors alone; then a token changes, and all channels are recomputed.
  (void)device.run(block(kernels::ffn_pass::whole, 32, 32));
  tokens[45] = (tokens[45] + 1) % model.end_token();
  device.set_token(45, tokens[45]);
  fixed_policy all({.q8 = model.options().ffn_width});
  device.set_policy(all);
  const auto replaced = device.run(block(kernels::ffn_pass::interior, 32, 32));
  EXPECT_EQ(all.asked, layers);
  EXPECT_GT(all.largest, 0.0f);
  forward_bench fresh(model, {}, tokens, 32, true);
  start(fresh);
  const auto other = fresh.run(block(kernels::ffn_pass::anchor, 32, 32));
  EXPECT_FALSE(same(other, anchored));
  EXPECT_TRUE(same(replaced, other));
  EXPECT_TRUE(device.cache_bytes() == fresh.cache_bytes());
  EXPECT_TRUE(device.machine().hazards().empty()) << device.machine().hazards()[0];

  // More rows than a tile cannot be anchored.
  EXPECT_EQ(device.code({.first = 0, .rows = 64, .keys = 64, .rule = {}, .ffn = kernels::ffn_pass::anchor}),
            drivers::npu_code::bad_argument);
}

TEST(forward, prints_its_size) {
  tiny_model model({.seed = 11, .vocabulary = 128, .width = 128, .layers = 6, .head_length = 32, .ffn_width = 384});
  const auto tokens = testbench::random_tokens(model, 96, 82);
  forward_bench device(model, {}, tokens, 0);
  (void)device.run(whole(model, 96));
  const std::uint64_t count = device.machine().descriptors();
  RecordProperty("descriptors", static_cast<int>(count));
  RecordProperty("waits", static_cast<int>(device.machine().waits()));
  RecordProperty("fences", static_cast<int>(device.machine().fences()));
  EXPECT_EQ(device.machine().fences(), 1u) << "only the one that ends a forward";
  EXPECT_LT(device.machine().waits(), 2 * count);
  EXPECT_TRUE(device.machine().hazards().empty());
}

}  // namespace
}  // namespace dvp
