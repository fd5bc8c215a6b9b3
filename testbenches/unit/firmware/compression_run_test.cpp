// What compression asks of every forward of a decode, and what it leaves in memory, without an NPU: the forwards are
// made up, the store is looked at.
#include "firmware/dllm/compression_run.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "firmware/dllm/alignment.h"
#include "firmware/port/native/machine.h"
#include "gtest/gtest.h"
#include "tlm/numerics/bf16.h"

namespace dvp {
namespace {

using gen::prefix_reading;
using kernels::ffn_pass;
using kernels::forward_pass;
using kernels::kv_half;

constexpr std::uint64_t base = 0x1000;
constexpr std::uint32_t block = 32;
constexpr auto whole_block = gen::compression_span::block;
constexpr auto sub_block = gen::compression_span::sub_block;

// Main memory and an account of work.
class memory_machine final : public hal::machine {
 public:
  memory_machine() { hal::install(this); }

  std::uint32_t read32(std::uint64_t) override {
    ADD_FAILURE() << "no registers here";
    return 0;
  }
  void write32(std::uint64_t, std::uint32_t) override { ADD_FAILURE() << "no registers here"; }
  void* memory(std::uint64_t address, std::uint64_t bytes) override {
    return address >= base && address - base <= bytes_.size() && bytes <= bytes_.size() - (address - base)
               ? bytes_.data() + (address - base)
               : nullptr;
  }
  bool wait_for_interrupt(std::uint32_t) override { return false; }
  std::uint64_t now_ns() override { return 0; }
  void spend(hal::work kind, std::uint64_t amount) override { spent[kind] += amount; }
  void spend(hal::work kind, std::uint64_t amount, std::uint64_t address, std::uint64_t bytes, bool written,
             gen::purpose purpose) override {
    EXPECT_NE(memory(address, bytes), nullptr);
    (written ? written_bytes : read_bytes)[purpose] += bytes;
    spend(kind, amount);
  }

  std::map<hal::work, std::uint64_t> spent;
  std::map<gen::purpose, std::uint64_t> read_bytes, written_bytes;

 private:
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4u << 20, std::byte{0xa5});
};

kernels::config small_model() {
  kernels::config m;
  m.width = 64;
  m.layers = 3;
  m.heads = 4;
  m.kv_heads = 2;
  m.head_length = 16;
  m.ffn_width = 96;
  return m;
}

gen::compression_record record(gen::kv_format kv, gen::ffn_mode ffn) {
  gen::compression_record r;
  r.version = gen::compression_version;
  r.kv = kv;
  r.ffn = ffn;
  r.basis_tokens = 2 * block;
  r.rank = 2;
  r.basis_iterations = 8;
  r.share_q8 = 0.25f;
  r.share_q4 = 0.25f;
  r.share_q2 = 0.25f;
  r.touch_gain = 1;
  r.touch_q8 = 0.5f;
  r.touch_q4 = 0.25f;
  r.smoothing = 0;
  r.drift_gain = 1;
  return r;
}

class run_bench {
 public:
  explicit run_bench(const gen::compression_record& r, std::uint32_t length, bool retries = false) : length_(length) {
    compression.record = r;
    statistics.resize(model.layers);
    compression.statistics = statistics;
    dllm::free_memory cache{base, base}, work{base + 64, base + (4u << 20)};
    EXPECT_TRUE(dllm::place_compression(compression, model, length, retries, cache, work, space));
    state.compressed = compression.stores() ? &store : nullptr;
    state.anchors = compression.anchors() ? &anchors : nullptr;
    for (std::uint32_t layer = 0; layer < model.layers; ++layer) {
      anchors.layers[layer].importance.data = dllm::channels_of(work.next, layer, model);
      std::fill_n(floats(anchors.layers[layer].importance.data), model.ffn_width, 1.0f);
    }
    run.start(compression, space, model, length, block, state);
  }

  float* floats(std::uint64_t address) { return static_cast<float*>(machine.memory(address, 4)); }
  std::uint32_t* words(std::uint64_t address) { return static_cast<std::uint32_t*>(machine.memory(address, 4)); }

  forward_pass pass(std::uint32_t first, bool logits) {
    forward_pass p;
    p.first = first;
    p.rows = block;
    p.keys = first + block;
    p.logits_first = first + block - 1;
    p.logits_rows = logits ? 1 : 0;
    return p;
  }
  forward_pass ask(std::uint32_t first, bool denoises, bool logits = true) {
    forward_pass p = pass(first, logits);
    run.prepare(p, denoises);
    return p;
  }
  forward_pass forward(std::uint32_t first, bool denoises, bool logits = true) {
    const forward_pass p = ask(first, denoises, logits);
    run.complete(p);
    return p;
  }
  // Blocks before `entries`, stored as a prompt's are.
  void fill(std::uint32_t entries) {
    for (std::uint32_t first = 0; first < entries; first += block) {
      forward(first, false, false);
    }
  }
  const gen::layer_statistics& counted(std::uint32_t layer) {
    run.report();
    return statistics[layer];
  }
  std::vector<std::uint32_t> list(std::uint32_t layer, std::uint32_t entries) {
    const std::uint32_t* first = words(space.store.list(model, layer));
    return {first, first + entries};
  }

  memory_machine machine;
  kernels::config model = small_model();
  dllm::compression_request compression;
  std::vector<gen::layer_statistics> statistics;
  dllm::compression_space space;
  kernels::compressed_cache store;
  kernels::anchored_ffn anchors;
  kernels::run_state state;
  dllm::compression_run run;

 private:
  std::uint32_t length_;
};

std::vector<std::uint32_t> natural(std::uint32_t count) {
  std::vector<std::uint32_t> v(count);
  std::iota(v.begin(), v.end(), 0u);
  return v;
}

gen::compression_record brq() {
  return record(gen::kv_format::brq, gen::ffn_mode::whole);
}
gen::compression_record dat() {
  return record(gen::kv_format::bf16, gen::ffn_mode::dat);
}

TEST(compression_run, a_plain_store_is_read_whole_and_never_ranked) {
  const auto b = std::make_unique<run_bench>(record(gen::kv_format::q8, gen::ffn_mode::whole), 8 * block);
  EXPECT_EQ(b->space.store.rank, 0u);
  b->fill(4 * block);
  for (std::uint32_t first = 4 * block; first < 6 * block; first += block) {
    b->run.begin(whole_block);
    for (int i = 0; i < 4; ++i) {
      b->run.begin(sub_block);
      const forward_pass p = b->forward(first, true);
      EXPECT_FALSE(p.rank || p.encode || p.gram);
      EXPECT_EQ(p.ffn, ffn_pass::whole);
      EXPECT_EQ(b->store.entries, first);
      ASSERT_EQ(b->store.reading[2].count, 1u);
      EXPECT_TRUE(b->store.reading[2].whole);
      EXPECT_EQ(b->store.reading[2].segments[0].count, first);
      EXPECT_EQ(b->store.reading[2].segments[0].basis, 0u);
      EXPECT_EQ(b->run.reading(), prefix_reading::whole);
    }
    const forward_pass p = b->forward(first, false);
    EXPECT_TRUE(p.encode);
    EXPECT_FALSE(p.gram || p.rank);
    EXPECT_EQ(b->store.basis, 0u);
  }
  EXPECT_EQ(b->list(2, 5 * block), natural(5 * block));
  const gen::layer_statistics& s = b->counted(1);
  // Prompt: 0 + 1 + 2 + 3 blocks; then five forwards over 4 and five over 5.
  EXPECT_EQ(s.plain_reads, (6u + 20 + 25) * block);
  EXPECT_EQ(b->counted(2).plain_reads, (20u + 25) * block) << "the last layer attends only where there are logits";
  EXPECT_EQ(s.encoded, 6u * block);
  EXPECT_EQ(s.unmapped_reads + s.map_q8 + s.map_q4 + s.map_q2 + s.map_q0 + s.maps + s.bases, 0u);
  EXPECT_EQ(b->machine.spent[hal::work::rank], 0u);
}

// Which forward of a span does what, for both kinds of spans.
TEST(compression_run, a_span_warms_up_then_ranks_then_reads_by_its_map) {
  for (const auto span : {whole_block, sub_block}) {
    gen::compression_record r = brq();
    r.map_span = span;
    const auto b = std::make_unique<run_bench>(r, 8 * block);
    b->fill(4 * block);
    b->run.begin(whole_block);
    std::vector<prefix_reading> seen;
    for (int part = 0; part < 2; ++part) {
      b->run.begin(sub_block);
      for (int i = 0; i < 4; ++i) {
        const forward_pass p = b->ask(4 * block, true);
        for (std::uint32_t n = 0; p.rank && n < 4 * block; ++n) {
          b->floats(b->space.store.maxima(b->model, 1))[n] = static_cast<float>(n * 37 % 128);
        }
        b->run.complete(p);
        seen.push_back(b->run.reading());
        EXPECT_EQ(b->list(1, 4 * block) == natural(4 * block), seen.back() != prefix_reading::mapped);
        EXPECT_EQ(p.rank, seen.back() == prefix_reading::ranking);
        EXPECT_EQ(b->store.reading[0].whole, seen.back() != prefix_reading::mapped);
        EXPECT_FALSE(p.encode || p.gram);
      }
    }
    std::vector<prefix_reading> expected = {prefix_reading::warm_up, prefix_reading::ranking, prefix_reading::mapped,
                                            prefix_reading::mapped};
    for (int i = 0; i < 4; ++i) {
      expected.push_back(span == sub_block ? expected[i] : prefix_reading::mapped);
    }
    EXPECT_EQ(seen, expected);
    const std::uint64_t maps = span == sub_block ? 2 : 1;
    EXPECT_EQ(b->counted(1).maps, maps);
    EXPECT_EQ(b->machine.spent[hal::work::rank], maps * 3 * 2 * block);
    // The forward that stores the block reads whole again.
    const forward_pass p = b->forward(4 * block, false);
    EXPECT_TRUE(p.encode && b->store.reading[1].whole);
    EXPECT_EQ(b->list(1, 4 * block), natural(4 * block));
  }
}

TEST(compression_run, nothing_is_ranked_before_there_is_a_basis) {
  const auto b = std::make_unique<run_bench>(brq(), 8 * block);
  b->fill(2 * block);  // all plain
  b->run.begin(whole_block);
  for (int i = 0; i < 4; ++i) {
    EXPECT_FALSE(b->forward(2 * block, true).rank);
    EXPECT_EQ(b->run.reading(), prefix_reading::whole);
  }
  EXPECT_EQ(b->counted(0).plain_reads, (1u + 4 * 2) * block);
}

TEST(compression_run, each_layer_reads_by_its_own_maxima_and_all_reads_add_up) {
  gen::compression_record r = brq();
  r.basis_refresh = block;
  const auto b = std::make_unique<run_bench>(r, 8 * block);
  b->fill(5 * block);
  b->run.begin(whole_block);
  b->forward(5 * block, true);
  const forward_pass ranked = b->ask(5 * block, true);
  ASSERT_TRUE(ranked.rank);
  // The NPU's part: layer l likes entries with the right remainder best.
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    float* maxima = b->floats(b->space.store.maxima(b->model, layer));
    for (std::uint32_t n = 0; n < 5 * block; ++n) {
      maxima[n] = n % 4 == layer ? 10.0f : -1.0f - static_cast<float>(n % 4);
    }
  }
  b->run.complete(ranked);
  for (int i = 0; i < 3; ++i) {
    b->forward(5 * block, true);
  }
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    const kernels::kv_reading& reading = b->store.reading[layer];
    const std::vector<std::uint32_t> list = b->list(layer, 5 * block);
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < reading.count; ++i) {
      const kernels::kv_segment& s = reading.segments[i];
      for (std::uint32_t k = 0; k < s.count; ++k, ++at) {
        const std::uint32_t n = list[at];
        EXPECT_EQ(s.basis, n < 2 * block ? 0u : n / block - 1) << n;
        if (n >= 2 * block) {
          EXPECT_EQ(n % 4 == layer, s.tier == gen::precision::q8) << n;
        }
      }
    }
    EXPECT_EQ(at, 5u * block);
    const gen::layer_statistics& s = b->counted(layer);
    // 96 entries with a basis, a quarter each, three times.
    EXPECT_EQ(s.map_q8, 3u * 24);
    EXPECT_EQ(s.map_q4, 3u * 24);
    EXPECT_EQ(s.map_q2, 3u * 24);
    EXPECT_EQ(s.map_q0, 3u * 24);
    EXPECT_EQ(s.bases, 3u);
    const std::uint64_t prompt = layer == 2 ? 0 : 1 + 2 + 3 + 4;
    EXPECT_EQ(s.map_q8 + s.map_q4 + s.map_q2 + s.map_q0 + s.plain_reads + s.unmapped_reads, (prompt + 5 * 5) * block);
  }
  EXPECT_EQ(b->machine.read_bytes[gen::purpose::kv_metadata],
            3u * 96 * 4 + 3 * 2 * 2 * 3 * b->space.store.gram_bytes(b->model))
      << "maxima of a map, Gram matrices of three bases";
}

// Which stored blocks add to the Gram matrices, and by which basis each is stored.
TEST(compression_run, bases_are_made_when_they_are_due_and_only_of_what_is_needed) {
  struct row {
    std::uint32_t rank, refresh, blocks;
    std::vector<std::pair<std::uint32_t, bool>> stored;  // basis, gram
  };
  const row rows[] = {
      {2, 0, 8, {{0, true}, {0, true}, {1, false}, {1, false}, {1, false}, {1, false}}},
      {2, 0, 4, {{0, true}, {0, true}, {1, false}}},
      {2, 0, 3, {{0, false}, {0, false}}},  // a basis would store nothing that is read
      {2, 2 * block, 8, {{0, true}, {0, true}, {1, true}, {1, true}, {2, true}, {2, true}, {3, false}}},
      {2,
       block,
       13,
       {{0, true},
        {0, true},
        {1, true},
        {2, true},
        {3, true},
        {4, true},
        {5, true},
        {6, true},
        {7, true},
        {8, false},
        {8, false},
        {8, false}}},
      {0, block, 6, {{0, false}, {0, false}, {1, false}, {2, false}, {3, false}}},  // no vectors: nothing to find
  };
  for (const row& expected : rows) {
    gen::compression_record r = brq();
    r.rank = expected.rank;
    r.basis_refresh = expected.refresh;
    const auto b = std::make_unique<run_bench>(r, expected.blocks * block);
    std::vector<std::pair<std::uint32_t, bool>> stored;
    for (std::uint32_t i = 0; i < expected.stored.size(); ++i) {
      const forward_pass p = b->forward(i * block, false);
      EXPECT_TRUE(p.encode);
      stored.emplace_back(b->store.basis, p.gram);
    }
    EXPECT_EQ(stored, expected.stored) << expected.rank << " " << expected.refresh << " " << expected.blocks;
    EXPECT_EQ(b->counted(0).bases, expected.rank == 0 ? 0u : expected.stored.back().first);
  }
}

// Every head's basis is of its own Gram matrix.
TEST(compression_run, a_basis_is_where_the_store_says_and_of_its_matrix) {
  const auto b = std::make_unique<run_bench>(brq(), 8 * block);
  const kernels::kv_store& store = b->space.store;
  const std::uint32_t d = b->model.head_length;
  const auto each = [&](auto visit) {
    std::uint32_t number = 0;
    for (std::uint32_t layer = 0; layer < 3; ++layer) {
      for (const kv_half half : {kv_half::keys, kv_half::values}) {
        for (std::uint32_t head = 0; head < 2; ++head) {
          visit(layer, half, head, number++);
        }
      }
    }
  };
  each([&](auto layer, auto half, auto head, auto) {
    const float* gram = b->floats(store.gram(b->model, layer, half, head));
    EXPECT_TRUE(std::all_of(gram, gram + d * d, [](float x) { return x == 0; })) << "starts from nothing";
  });
  b->fill(2 * block);
  each([&](auto layer, auto half, auto head, auto number) {
    float* gram = b->floats(store.gram(b->model, layer, half, head));
    gram[number * d + number] = 9;            // one direction
    gram[(number + 1) * d + number + 1] = 1;  // and a weaker one
  });
  b->forward(2 * block, false);
  each([&](auto layer, auto half, auto head, auto number) {
    const auto* codes = static_cast<const std::uint16_t*>(
        b->machine.memory(store.basis(b->model, layer, 1, half, head), store.basis_bytes(b->model)));
    for (std::uint32_t k = 0; k < 2; ++k) {
      for (std::uint32_t i = 0; i < d; ++i) {
        EXPECT_NEAR(std::abs(numerics::from_bf16(codes[k * d + i])), i == number + k ? 1 : 0, 0.01);
        EXPECT_EQ(codes[2 * d + i * 2 + k], codes[k * d + i]) << "transposed behind it";
      }
    }
  });
}

// The second try finds the Gram matrices as the first did.
TEST(compression_run, a_forward_that_failed_does_not_count_twice) {
  const auto b = std::make_unique<run_bench>(brq(), 8 * block, true);
  const std::uint64_t address = b->space.store.gram(b->model, 0, kv_half::keys, 0);
  const std::uint64_t bytes = dllm::gram_bytes(b->space.store, b->model);
  b->forward(0, false, false);
  auto* gram = static_cast<std::byte*>(b->machine.memory(address, bytes));
  std::mt19937 random(5);
  std::generate(gram, gram + bytes, [&] { return static_cast<std::byte>(random()); });
  const std::vector<std::byte> then(gram, gram + bytes);
  forward_pass p = b->ask(block, false, false);
  ASSERT_TRUE(p.gram);
  std::fill(gram + bytes / 3, gram + bytes, std::byte{7});
  b->run.undo(p);
  EXPECT_TRUE(p.gram && p.encode);
  EXPECT_TRUE(std::equal(then.begin(), then.end(), gram));
  b->run.complete(p);
  EXPECT_EQ(b->counted(0).encoded, 2u * block);
}

TEST(compression_run, a_span_anchors_once_and_then_moves) {
  for (const auto span : {whole_block, sub_block}) {
    gen::compression_record r = dat();
    r.anchor_span = span;
    const auto b = std::make_unique<run_bench>(r, 8 * block);
    EXPECT_EQ(b->forward(0, false, false).ffn, ffn_pass::whole);
    std::vector<ffn_pass> seen;
    b->run.begin(whole_block);
    for (int part = 0; part < 2; ++part) {
      b->run.begin(sub_block);
      for (int i = 0; i < 2; ++i) {
        const forward_pass p = b->ask(block, true);
        EXPECT_FALSE(p.rank || p.encode || p.gram);
        if (p.ffn == ffn_pass::interior) {
          for (std::uint32_t layer = 0; layer < 3; ++layer) {
            static_cast<void>(b->anchors.policy->decide(layer, 1, 16));
          }
        }
        b->run.complete(p);
        seen.push_back(p.ffn);
      }
    }
    EXPECT_EQ(b->forward(block, false).ffn, ffn_pass::whole);
    const auto third = span == sub_block ? ffn_pass::anchor : ffn_pass::interior;
    EXPECT_EQ(seen, (std::vector{ffn_pass::anchor, ffn_pass::interior, third, ffn_pass::interior}));
    const gen::layer_statistics& s = b->counted(2);
    const std::uint64_t moved = span == sub_block ? 2 : 3;
    EXPECT_EQ(s.whole_ffn, 4 - moved);
    EXPECT_EQ(s.interior_ffn, moved);
    // A quarter of 96 channels: 12 at q8, 6 at q4, 6 at q2.
    EXPECT_EQ(s.channels_q8, moved * 12);
    EXPECT_EQ(s.channels_q4, moved * 6);
    EXPECT_EQ(s.channels_q2, moved * 6);
    EXPECT_EQ(s.channels_q0, moved * 72);
    EXPECT_FLOAT_EQ(s.drift_sum, 0.25f * static_cast<float>(moved));
    EXPECT_FLOAT_EQ(s.drift_most, 0.25f);
    EXPECT_FLOAT_EQ(s.budget_sum, 0.25f * static_cast<float>(moved));
    EXPECT_EQ(s.plain_reads + s.encoded + s.maps, 0u);
    EXPECT_EQ(b->machine.spent[hal::work::rank], (4 - moved) * 3 * 96);
  }
}

TEST(compression_run, channels_are_ordered_by_what_the_anchor_found) {
  const auto b = std::make_unique<run_bench>(dat(), 8 * block);
  b->run.begin(whole_block);
  const forward_pass p = b->ask(0, true);
  ASSERT_EQ(p.ffn, ffn_pass::anchor);
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    for (std::uint32_t j = 0; j < 96; ++j) {
      b->floats(dllm::channels_of(b->anchors.activity, layer, b->model))[j] = static_cast<float>((j * 7 + layer) % 96);
    }
  }
  b->floats(b->anchors.layers[1].importance.data)[40] = 1000;
  b->run.complete(p);
  EXPECT_EQ(b->ask(0, true).ffn, ffn_pass::interior);
  for (std::uint32_t layer = 0; layer < 3; ++layer) {
    const std::uint32_t* order = b->words(dllm::channels_of(b->anchors.order, layer, b->model));
    std::vector<std::uint32_t> expected = natural(96);
    std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t x, std::uint32_t y) {
      const auto worth = [&](std::uint32_t j) { return layer == 1 && j == 40 ? 1e6 : (j * 7 + layer) % 96; };
      return worth(x) > worth(y);
    });
    EXPECT_EQ(std::vector<std::uint32_t>(order, order + 96), expected);
  }
}

TEST(compression_run, a_step_that_failed_is_anchored_anew) {
  const auto b = std::make_unique<run_bench>(dat(), 8 * block);
  b->run.begin(whole_block);
  b->forward(0, true);
  forward_pass p = b->ask(0, true);
  ASSERT_EQ(p.ffn, ffn_pass::interior);
  static_cast<void>(b->anchors.policy->decide(0, 1, 4));
  b->run.undo(p);
  EXPECT_EQ(p.ffn, ffn_pass::anchor);
  b->run.undo(p);  // and fails once more
  EXPECT_EQ(p.ffn, ffn_pass::anchor);
  b->run.complete(p);
  EXPECT_EQ(b->counted(0).whole_ffn, 2u);
  EXPECT_EQ(b->counted(0).interior_ffn, 0u);
  EXPECT_EQ(b->counted(0).channels_q8, 0u);
  EXPECT_EQ(b->ask(0, true).ffn, ffn_pass::interior);
  // The budget is an anchor's: nothing of the failed step is in it.
  EXPECT_EQ(b->anchors.policy->decide(0, 1, 16).touched(), 24u);
}

TEST(compression_run, corrections_find_the_channels_in_their_own_order) {
  gen::compression_record r = dat();
  r.correction_rank = 4;
  const auto b = std::make_unique<run_bench>(r, 8 * block);
  EXPECT_EQ(b->anchors.correction_rank, 4u);
  const std::uint32_t* order = b->words(dllm::channels_of(b->anchors.order, 3, b->model));
  EXPECT_EQ(std::vector<std::uint32_t>(order, order + 96), natural(96));
}

// Parts lie apart, on borders, inside of what was given, and the store goes behind the cache when it fits there.
TEST(compression_space, is_apart_and_inside) {
  const kernels::config model = small_model();
  dllm::compression_request c;
  c.record = record(gen::kv_format::brq, gen::ffn_mode::dat);
  c.record.correction_rank = 4;
  const auto place = [&](std::uint64_t cache_bytes, std::uint64_t work_bytes, dllm::compression_space& s) {
    dllm::free_memory cache{base, base + cache_bytes}, work{1u << 24, (1u << 24) + work_bytes};
    return dllm::place_compression(c, model, 100, true, cache, work, s);
  };
  dllm::compression_space s;
  ASSERT_TRUE(place(0, 4u << 20, s));
  EXPECT_EQ(s.store.capacity, 128u);
  EXPECT_EQ(s.store.address, 1u << 24);
  const std::uint64_t channels = 4 * 3 * 96;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> parts = {{s.store.address, s.store.bytes(model)},
                                                                {s.kept_grams, dllm::gram_bytes(s.store, model)},
                                                                {s.order, channels + 4 * 96},
                                                                {s.activity, channels},
                                                                {s.drift, 8 * 3},
                                                                {s.keys, 2 * 128},
                                                                {s.ranking, 4 * 128},
                                                                {s.spare, 4 * 128},
                                                                {s.tiers, 128},
                                                                {s.vectors, 8 * 2 * 2 * 16}};
  std::sort(parts.begin(), parts.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i].first % dllm::alignment, 0u);
    EXPECT_TRUE(i == 0 || parts[i - 1].first + parts[i - 1].second <= parts[i].first) << i;
  }
  const std::uint64_t need = parts.back().first + dllm::align_up(parts.back().second) - (1u << 24);
  EXPECT_TRUE(place(0, need, s));
  EXPECT_FALSE(place(0, need - 1, s));
  const std::uint64_t store = s.store.bytes(model);
  ASSERT_TRUE(place(store, need - store, s));
  EXPECT_EQ(s.store.address, base);
  EXPECT_FALSE(place(store - 1, need - store, s));
}

}  // namespace
}  // namespace dvp
