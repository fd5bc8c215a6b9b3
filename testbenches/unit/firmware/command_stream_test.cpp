// What the command stream makes of operations: every field of the descriptors it submits, and waits that order whatever
// conflicts, proved by the hazard checker; the hazard checker itself on pairs written by hand.
#include "firmware/kernels/command_stream.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>

#include "dvp_gen/system.h"
#include "gtest/gtest.h"
#include "testbenches/unit/firmware/functional_machine.h"

namespace dvp {
namespace {

using kernels::dram_object;
using kernels::matrix;

constexpr std::uint32_t ring_entries = 64;
constexpr std::uint32_t scratchpad_bytes = 0x10000;
constexpr std::uint64_t ring = gen::system::dram_base;
constexpr std::uint64_t records = ring + ring_entries * gen::descriptor_bytes;
constexpr std::uint64_t lists = gen::system::dram_base + 0x4000;  // of gathers: 0 .. 15
constexpr std::uint64_t store = gen::system::dram_base + 0x8000;  // written and read by the NPU

class stream_bench {
 public:
  stream_bench() : machine(options()) {
    constexpr std::uint32_t sources[] = {gen::system::npu_interrupt};
    controller_.start(gen::system::plic_base, sources);
    EXPECT_EQ(npu_.probe(gen::system::npu_base), drivers::npu_code::ok);
    EXPECT_EQ(npu_.start(ring, records, ring_entries, 1000), drivers::npu_code::ok);
    stream.start(npu_, ring_entries);
    for (std::uint32_t i = 0; i < 16; ++i) *machine.at<std::uint32_t>(lists + 4 * i) = i;
    machine.tamper = [this](npu::descriptor_view& d) { seen.push_back(d); };
  }

  // Everything so far is complete. The first hazard, empty without one.
  std::string outcome() {
    stream.drain();
    EXPECT_EQ(stream.status(), drivers::npu_code::ok);
    return machine.hazards().empty() ? "" : machine.hazards().front();
  }
  template <class Record>
  Record last() {
    EXPECT_EQ(outcome(), "");
    return seen[seen.size() - 2].as<Record>();  // before the fence
  }

  testbench::functional_machine machine;
  kernels::command_stream stream;
  std::vector<npu::descriptor_view> seen;

 private:
  static testbench::functional_options options() {
    testbench::functional_options o;
    o.scratchpad_bytes = scratchpad_bytes;
    o.memory_bytes = 1u << 16;
    return o;
  }

  drivers::interrupts controller_;
  drivers::npu npu_{{controller_, gen::system::npu_interrupt}};
};

TEST(command_stream, products) {
  stream_bench b;
  b.stream.multiply({.precision = gen::precision::q4,
                     .tokens = 3,
                     .vectors = 4,
                     .reduction = 30,
                     .group = 30,
                     .x = {0x100, 8},
                     .w = {0x401, 17},
                     .scales = {},
                     .out = {0x800, 16},
                     .accumulate = true,
                     .unscaled = true,
                     .half_step = true,
                     .transposed_x = true,
                     .transposed_out = true});
  const auto d = b.last<gen::gemm_descriptor>();
  EXPECT_EQ(d.header.op, gen::opcode::gemm);
  EXPECT_EQ(d.header.tag_precision, gen::precision::q4);
  EXPECT_EQ(d.header.function, 1 | 2 | 4 | 8);
  EXPECT_EQ(d.header.flags, gen::descriptor_flag::accumulate);
  EXPECT_EQ(d.x, 0x100u);
  EXPECT_EQ(d.x_stride, 8u);
  EXPECT_EQ(d.w, 0x401u);
  EXPECT_EQ(d.w_stride, 17u);
  EXPECT_EQ(d.out, 0x800u);
  EXPECT_EQ(d.out_stride, 16u);
  EXPECT_EQ(d.scales, 0u);
  EXPECT_EQ(d.group, 30u);
}

TEST(command_stream, vector_functions) {
  stream_bench b;
  b.stream.apply({.function = gen::vector_function::encode,
                  .rows = 3,
                  .columns = 8,
                  .s0 = {0x100, 32},
                  .s1 = {0x200, 36},
                  .d = {0x301, 9},
                  .e = {0x402, 6},
                  .scalar_int = 1});
  const auto encode = b.last<gen::vector_descriptor>();
  EXPECT_EQ(encode.header.function, static_cast<std::uint8_t>(gen::vector_function::encode));
  EXPECT_EQ(encode.e, 0x402u);
  EXPECT_EQ(encode.e_stride, 6u);
  EXPECT_EQ(encode.scalar_int, 1u);
  EXPECT_EQ(encode.s1_stride, 36u);
  b.stream.apply({.function = gen::vector_function::transpose_codes,
                  .rows = 3,
                  .columns = 8,
                  .s0 = {0x100, 4},
                  .s1 = {},
                  .d = {0x301, 2},
                  .precision = gen::precision::q4});
  EXPECT_EQ(b.last<gen::vector_descriptor>().header.tag_precision, gen::precision::q4);
  b.stream.apply({.function = gen::vector_function::column_max,
                  .rows = 3,
                  .columns = 8,
                  .s0 = {0x100, 32},
                  .s1 = {},
                  .d = {0x300, 0},
                  .accumulate = true});
  EXPECT_EQ(b.last<gen::vector_descriptor>().header.flags, gen::descriptor_flag::accumulate);
}

TEST(command_stream, rebuild) {
  stream_bench b;
  b.stream.rebuild({.precision = gen::precision::q2,
                    .rows = 3,
                    .columns = 8,
                    .codes = {0x101, 3},
                    .terms = {0x200, 10},
                    .basis = 0x302,
                    .rope = 0x404,
                    .list = 0x604,
                    .d = {0x702, 18},
                    .rank = 2,
                    .limit = 5,
                    .rotate = true,
                    .half_step = true});
  const auto d = b.last<gen::rebuild_descriptor>();
  EXPECT_EQ(d.header.op, gen::opcode::rebuild);
  EXPECT_EQ(d.header.tag_precision, gen::precision::q2);
  EXPECT_EQ(d.header.function, gen::rebuild_mode::rotate | gen::rebuild_mode::half_step);
  const std::uint32_t fields[] = {d.rows, d.columns, d.codes, d.codes_stride, d.terms, d.terms_stride, d.basis,
                                  d.rope, d.list,    d.d,     d.d_stride};
  const std::uint32_t expected[] = {3, 8, 0x101, 3, 0x200, 10, 0x302, 0x404, 0x604, 0x702, 18};
  EXPECT_TRUE(std::ranges::equal(fields, expected));
  EXPECT_EQ(d.rank_limit, 2u | 5u << 8);
  b.stream.rebuild({.rows = 1,
                    .columns = 2,
                    .codes = {},
                    .terms = {0x200, 2},
                    .list = 0x300,
                    .d = {0x100, 4},
                    .limit = 1,
                    .halves = true});
  EXPECT_EQ(b.last<gen::rebuild_descriptor>().header.function, gen::rebuild_mode::halves);
}

TEST(command_stream, update) {
  stream_bench b;
  b.stream.update({.rows = 3,
                   .columns = 5,
                   .gate = 0x100,
                   .up = 0x200,
                   .sums_stride = 24,
                   .state = 0x302,
                   .state_rows = 7,
                   .list = 0x404,
                   .scales = {0x502, 6},
                   .d = {0x602, 12},
                   .add_state = true});
  const auto d = b.last<gen::update_descriptor>();
  EXPECT_EQ(d.header.op, gen::opcode::update);
  EXPECT_EQ(d.header.function, gen::update_mode::add_state);
  const std::uint32_t fields[] = {d.rows,       d.columns, d.gate,   d.up,           d.sums_stride, d.state,
                                  d.state_rows, d.list,    d.scales, d.scale_stride, d.d,           d.d_stride};
  const std::uint32_t expected[] = {3, 5, 0x100, 0x200, 24, 0x302, 7, 0x404, 0x502, 6, 0x602, 12};
  EXPECT_TRUE(std::ranges::equal(fields, expected));
  b.stream.update(
      {.rows = 1, .columns = 2, .state = 0x200, .state_rows = 1, .scales = {}, .d = {0x100, 4}, .fresh = true});
  const auto fresh = b.last<gen::update_descriptor>();
  EXPECT_EQ(fresh.header.function, gen::update_mode::fresh);
  EXPECT_EQ(fresh.list, gen::no_list);
}

TEST(command_stream, narrow_reads) {
  stream_bench b;
  kernels::transfer t{.dram = store,
                      .dram_stride = 64,
                      .scratchpad = {0x100, 16},
                      .row_bytes = 16,
                      .rows = 3,
                      .purpose = gen::purpose::prefix_kv,
                      .precision = gen::precision::q2,
                      .view = 0};
  b.stream.load(t);
  auto d = b.last<gen::dma_descriptor>();
  EXPECT_EQ(d.header.tag_precision, gen::precision::q2);
  EXPECT_EQ(d.rows, 1u) << "64 stored bytes behind 16 that arrive: no gap";
  EXPECT_EQ(d.row_bytes, 48u);
  t.dram_stride = 16;
  b.stream.load(t);
  d = b.last<gen::dma_descriptor>();
  EXPECT_EQ(d.rows, 3u) << "rows that share stored bytes";
  b.stream.gather(t, lists, 16);
  d = b.last<gen::dma_descriptor>();
  EXPECT_EQ(d.header.op, gen::opcode::dma_gather);
  EXPECT_EQ(d.list_address, lists);
}

// Operations of every kind on operands drawn from few places, so that most of them meet something still in use.
class random_operations {
 public:
  random_operations(kernels::command_stream& stream, std::uint32_t seed) : stream_(stream), random_(seed) {}

  void issue() {
    std::ranges::shuffle(places_, random_);
    next_ = 0;
    const std::uint32_t rows = one_to(8), columns = 2 * one_to(8);
    const gen::precision code = codes[below(3)];
    switch (below(8)) {
      case 0:
      case 1:
        return move(rows);
      case 2:
        return multiply(rows, columns);
      case 3:
        return stream_.rebuild({.precision = below(4) == 0 ? gen::precision::q0 : code,
                                .rows = rows,
                                .columns = columns,
                                .codes = {place(), columns},
                                .terms = {place(), 8},
                                .basis = place(),
                                .rope = place(),
                                .list = place(),
                                .d = {place(), 2 * columns},
                                .rank = below(3),
                                .limit = one_to(12),
                                .rotate = below(2) == 0,
                                .half_step = below(2) == 0});
      case 4:
        return stream_.update({.rows = rows,
                               .columns = columns,
                               .gate = place(),
                               .up = place(),
                               .sums_stride = 4 * columns,
                               .state = place(),
                               .state_rows = one_to(12),
                               .list = below(2) == 0 ? place() : gen::no_list,
                               .scales = {place(), 2},
                               .d = {place(), 2 * columns},
                               .add_state = below(2) == 0,
                               .fresh = below(2) == 0});
      default:
        return apply(rows, columns, code);
    }
  }

 private:
  static constexpr gen::precision codes[] = {gen::precision::q8, gen::precision::q4, gen::precision::q2};
  static constexpr std::uint32_t place_bytes = 0x800;

  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::uint32_t one_to(std::uint32_t n) { return 1 + below(n); }
  // Of its own within an operation; anywhere in it.
  std::uint32_t place() { return places_[next_++] * place_bytes + 4 * below(64); }

  void move(std::uint32_t rows) {
    const std::uint32_t kind = below(3);
    kernels::transfer t{.dram = store + 64 * below(32),
                        .dram_stride = 64,
                        .scratchpad = {place(), 32},
                        .row_bytes = 16,
                        .rows = rows,
                        .precision = kind == 1 ? gen::precision::raw : codes[below(3)],
                        .object = dram_object::kv_store};
    if (kind == 0) return stream_.load(t);
    if (kind == 1) return stream_.store(t);
    stream_.gather(t, lists + 4 * below(8), 16);
  }

  void multiply(std::uint32_t rows, std::uint32_t columns) {
    const bool coded = below(4) != 0;
    const gen::precision code = coded ? codes[below(3)] : gen::precision::bf16;
    const bool turned_x = below(2) == 0, turned_out = below(2) == 0;
    const std::uint32_t reduction = 2 * one_to(12);
    stream_.multiply({.precision = code,
                      .tokens = rows,
                      .vectors = columns,
                      .reduction = reduction,
                      .group = reduction,
                      .x = {place(), 2 * (turned_x ? rows : reduction)},
                      .w = {place(), 2 * reduction},
                      .scales = {place(), 2},
                      .out = {place(), 4 * (turned_out ? rows : columns)},
                      .accumulate = below(2) == 0,
                      .unscaled = coded && below(2) == 0,
                      .half_step = (code == gen::precision::q4 || code == gen::precision::q2) && below(2) == 0,
                      .transposed_x = turned_x,
                      .transposed_out = turned_out});
  }

  void apply(std::uint32_t rows, std::uint32_t columns, gen::precision code) {
    using f = gen::vector_function;
    constexpr f functions[] = {f::encode,           f::difference,      f::column_max,  f::scale_columns,
                               f::gather_transpose, f::transpose_codes, f::row_abs_sum, f::add};
    kernels::vector_operation v{.function = functions[below(8)],
                                .rows = rows,
                                .columns = columns,
                                .s0 = {place(), 4 * columns},
                                .s1 = {place(), 4 * columns},
                                .d = {place(), 64},
                                .precision = code};
    if (v.function == f::encode || v.function == f::difference) v.e.address = place();
    if (v.function == f::encode) {
      v.e.stride = 2;
      v.scalar_int = below(2);
    }
    if (v.function == f::gather_transpose) v.scalar_int = one_to(12);
    if (v.function == f::column_max) v.accumulate = below(2) == 0;
    stream_.apply(v);
  }

  kernels::command_stream& stream_;
  std::mt19937 random_;
  // Eight of the first 16 KiB: an operation uses up to seven of them.
  std::vector<std::uint32_t> places_ = {0, 1, 2, 3, 4, 5, 6, 7};
  std::size_t next_ = 0;
};

TEST(command_stream, operations_of_every_kind_wait_for_what_they_touch) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    stream_bench b;
    random_operations operations(b.stream, seed);
    for (int i = 0; i < 200; ++i) operations.issue();
    ASSERT_EQ(b.outcome(), "");
    ASSERT_GT(b.machine.waits(), 100u);
  }
}

// The proof is worth something: without one of the waits it mostly fails.
TEST(command_stream, a_missing_wait_of_them_is_found) {
  int found = 0;
  constexpr int trials = 60;
  for (std::uint32_t seed = 1; seed <= trials; ++seed) {
    stream_bench b;
    std::uint32_t left = 20 + seed;
    b.machine.tamper = [&](npu::descriptor_view& d) {
      auto descriptor = d.as<gen::vector_descriptor>();
      for (std::uint16_t& wait : descriptor.header.wait) {
        if (wait != 0 && left != 0 && --left == 0) wait = 0;
      }
      d = npu::descriptor_view(descriptor);
    };
    random_operations operations(b.stream, seed);
    for (int i = 0; i < 200; ++i) operations.issue();
    found += b.outcome().empty() ? 0 : 1;
    ASSERT_EQ(left, 0u);
  }
  EXPECT_GE(found, trials / 2) << "of " << trials << " dropped waits";
}

// Two descriptors without a wait, the second on another engine: what the checker says of them.
class hazards : public ::testing::Test {
 protected:
  template <class First, class Second>
  bool conflict(const First& first, const Second& second) {
    testbench::hazard_checker checker(
        64, [](std::uint64_t device) { return device; },
        [this](std::uint64_t, std::uint32_t words) {
          return std::vector<std::uint32_t>(list_.begin(), list_.begin() + words);
        });
    EXPECT_EQ(checker.add(npu::descriptor_view(first)), "");
    return !checker.add(npu::descriptor_view(second)).empty();
  }
  static gen::dma_descriptor dma(gen::opcode op, std::uint64_t dram, std::uint32_t scratchpad, std::uint32_t bytes) {
    gen::dma_descriptor d;
    d.header.op = op;
    d.header.tag_precision = gen::precision::raw;
    d.dram_address = dram;
    d.scratchpad_address = scratchpad;
    d.row_bytes = bytes;
    d.rows = d.planes = 1;
    return d;
  }

  std::vector<std::uint32_t> list_{3, 0, 7};
};

TEST_F(hazards, a_gather_reads_the_rows_that_its_list_names_and_the_list) {
  gen::dma_descriptor gather = dma(gen::opcode::dma_gather, 0x1000, 0, 16);
  gather.list_address = 0x8000;
  gather.rows = 3;
  gather.dram_stride = 0x100;
  gather.scratchpad_stride = 16;
  const auto stored = [](std::uint64_t at) { return dma(gen::opcode::dma_store, at, 0x4000, 4); };
  for (const std::uint64_t inside : {0x1000, 0x130c, 0x1700, 0x8000, 0x8008}) {
    EXPECT_TRUE(conflict(stored(inside), gather)) << std::hex << inside;
    EXPECT_TRUE(conflict(gather, stored(inside))) << std::hex << inside;
  }
  for (const std::uint64_t outside : {0x1010, 0x1100, 0x1310, 0x1400, 0x800c}) {
    EXPECT_FALSE(conflict(stored(outside), gather)) << std::hex << outside;
  }
  gather.header.tag_precision = gen::precision::q2;
  EXPECT_TRUE(conflict(stored(0x133c), gather)) << "64 stored bytes behind 16";
  EXPECT_FALSE(conflict(stored(0x1340), gather));
}

TEST_F(hazards, a_rebuild_may_read_every_entry_below_its_limit) {
  gen::rebuild_descriptor d;
  d.header.op = gen::opcode::rebuild;
  d.header.tag_precision = gen::precision::q4;
  d.header.function = gen::rebuild_mode::rotate;
  d.rows = 2;
  d.columns = 8;
  d.codes = 0x100;
  d.codes_stride = 4;
  d.terms = 0x200;
  d.terms_stride = 8;
  d.basis = 0x300;
  d.rope = 0x400;
  d.list = 0x600;
  d.d = 0x700;
  d.d_stride = 16;
  d.rank_limit = 2 | 5 << 8;
  const auto loaded = [](std::uint32_t at) { return dma(gen::opcode::dma_load, 0, at, 2); };
  for (const std::uint32_t inside : {0x106, 0x224, 0x31e, 0x49e, 0x606, 0x71e}) {
    EXPECT_TRUE(conflict(loaded(inside), d)) << std::hex << inside;
    EXPECT_TRUE(conflict(d, loaded(inside))) << std::hex << inside;
  }
  for (const std::uint32_t outside : {0x108, 0x206, 0x226, 0x320, 0x4a0, 0x608, 0x720}) {
    EXPECT_FALSE(conflict(d, loaded(outside))) << std::hex << outside;
  }
}

TEST_F(hazards, an_update_may_write_all_of_its_state) {
  gen::update_descriptor d;
  d.header.op = gen::opcode::update;
  d.rows = 2;
  d.columns = 4;
  d.gate = 0x100;
  d.up = 0x200;
  d.sums_stride = 16;
  d.state = 0x300;
  d.state_rows = 6;
  d.list = 0x400;
  d.scales = 0x500;
  d.scale_stride = 2;
  d.d = 0x600;
  d.d_stride = 8;
  const auto stored = [](std::uint32_t at) { return dma(gen::opcode::dma_store, 0, at, 2); };
  for (const std::uint32_t inside : {0x300, 0x35e, 0x60e})
    EXPECT_TRUE(conflict(d, stored(inside))) << std::hex << inside;
  for (const std::uint32_t outside : {0x11e, 0x21e, 0x360, 0x406, 0x502, 0x610}) {
    EXPECT_FALSE(conflict(d, stored(outside))) << std::hex << outside << ": read by both, or not at all";
  }
}

}  // namespace
}  // namespace dvp
