// Random programs on both queues at once against an interpreter that runs each queue one descriptor after another.
//
// A program works on 8 cells of 256 bytes in DRAM and 8 in the scratchpad per queue. Every descriptor waits for what it
// conflicts with, directly or by a fence, and now and then for something it does not; so whatever the engines overlap,
// memory must end as in program order. Timing must be the same for other data.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <random>
#include <set>

#include "testbenches/unit/npu/descriptors.h"
#include "testbenches/unit/npu/npu_bench.h"

namespace dvp::npu {
namespace {

using namespace test;
namespace flag = gen::descriptor_flag;

constexpr std::uint32_t cells = 8;
constexpr std::uint32_t cell_bytes = 256;
constexpr std::uint32_t row_floats = 16;  // a cell is 4 rows

std::uint64_t dram_cell(std::uint32_t q, std::uint32_t cell) {
  return npu_bench::data_base + 0x8000 * q + cell_bytes * cell;
}
// The cells of a queue lie in one half of the scratchpad, four to a bank.
std::uint32_t pad_cell(std::uint32_t q, std::uint32_t cell) {
  return 0x8000 * q + 0x400 * cell;
}

struct images {
  std::vector<std::byte> dram, pad;
};

template <typename T>
T at(const std::vector<std::byte>& bytes, std::uint64_t address) {
  T value;
  std::memcpy(&value, bytes.data() + address, sizeof value);
  return value;
}
template <typename T>
void put(std::vector<std::byte>& bytes, std::uint64_t address, T value) {
  std::memcpy(bytes.data() + address, &value, sizeof value);
}

// Cells read with another element size than they were written with may hold any bits, so there are NaNs.
float one_nan(float value) {
  return value != value ? std::bit_cast<float>(0x7fc00000U) : value;
}

std::uint16_t to_bf16(float value) {
  if (value != value) return 0x7fc0;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

void interpret_vector(images& m, const gen::vector_descriptor& d) {
  const std::vector<std::byte> before = m.pad;
  const auto function = static_cast<gen::vector_function>(d.header.function);
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    for (std::uint32_t c = 0; c < d.columns; ++c) {
      const float s0 = at<float>(before, d.s0 + r * d.s0_stride + 4 * c);
      if (function == gen::vector_function::to_bf16) {
        put(m.pad, d.d + r * d.d_stride + 2 * c, to_bf16(s0));
      } else if (function == gen::vector_function::transpose_to_bf16) {
        put(m.pad, d.d + c * d.d_stride + 2 * r, to_bf16(s0));
      } else {
        const std::uint32_t row = function == gen::vector_function::add_row ? 0 : r;
        put(m.pad, d.d + r * d.d_stride + 4 * c, one_nan(s0 + at<float>(before, d.s1 + row * d.s1_stride + 4 * c)));
      }
    }
  }
}

void interpret_dma(images& m, const gen::dma_descriptor& d) {
  for (std::uint32_t r = 0; r < d.rows; ++r) {
    std::byte* const dram = m.dram.data() + d.dram_address + r * d.dram_stride;
    std::byte* const pad = m.pad.data() + d.scratchpad_address + r * d.scratchpad_stride;
    const bool loads = d.header.op == gen::opcode::dma_load;
    std::memcpy(loads ? pad : dram, loads ? dram : pad, d.row_bytes);
  }
}

void interpret_gemm(images& m, const gen::gemm_descriptor& d) {
  const std::vector<std::byte> before = m.pad;
  const auto element = [&](std::uint32_t address) {
    return std::bit_cast<float>(std::uint32_t{at<std::uint16_t>(before, address)} << 16);
  };
  for (std::uint32_t t = 0; t < d.tokens; ++t) {
    for (std::uint32_t v = 0; v < d.vectors; ++v) {
      float sum = 0;
      for (std::uint32_t k = 0; k < d.reduction; ++k) {
        sum = sum + element(d.w + v * d.w_stride + 2 * k) * element(d.x + t * d.x_stride + 2 * k);
      }
      put(m.pad, d.out + t * d.out_stride + 4 * v, one_nan(sum));
    }
  }
}

void interpret(images& m, const descriptor_view& d) {
  switch (d.op()) {
    case gen::opcode::dma_load:
    case gen::opcode::dma_store:
      return interpret_dma(m, d.as<gen::dma_descriptor>());
    case gen::opcode::stage: {
      const auto copy = d.as<gen::dma_descriptor>();
      std::memcpy(m.dram.data() + copy.dram_address, m.dram.data() + copy.list_address, copy.row_bytes);
      return;
    }
    case gen::opcode::vector:
      return interpret_vector(m, d.as<gen::vector_descriptor>());
    case gen::opcode::gemm:
      return interpret_gemm(m, d.as<gen::gemm_descriptor>());
    default:
      return;
  }
}

// A descriptor and the cells it touches: scratchpad cell c is c, DRAM cell c is cells + c.
struct step {
  descriptor_view descriptor;
  std::vector<std::uint32_t> reads;
  std::uint32_t writes = 0;
};

class program_writer {
 public:
  program_writer(std::uint32_t q, std::uint32_t seed) : q_(q), random_(seed) {}

  std::vector<descriptor_view> write(std::size_t length) {
    while (program_.size() < length) append(draw());
    program_.emplace_back(fence(flag::interrupt | flag::record));
    return program_;
  }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  step draw() {
    using f = gen::vector_function;
    const std::uint32_t a = below(cells);
    const std::uint32_t b = below(cells);
    const std::uint32_t c = (std::max(a, b) + 1 + below(cells - 2)) % cells;
    const std::uint32_t pad_a = pad_cell(q_, a);
    const std::uint32_t pad_b = pad_cell(q_, b);
    const std::uint32_t pad_c = pad_cell(q_, c);
    const bool distinct = c != a && c != b;
    switch (below(9)) {
      case 0:
      case 1: {
        gen::dma_descriptor d = load(dram_cell(q_, b) + 4 * below(3), pad_a, 4 * (1 + below(12)));
        d.rows = 1 + below(4);
        d.dram_stride = d.scratchpad_stride = 64 - 4 * below(3);
        return {descriptor_view(d), {cells + b}, a};
      }
      case 2:
        return {descriptor_view(store(dram_cell(q_, b), pad_a, 1 + below(cell_bytes))), {a}, cells + b};
      case 3:
        if (a == b) break;  // the shared row would be written while it is in use
        return {descriptor_view(vector(f::add_row, 4, row_floats, {pad_a, 64}, {pad_b, 0}, {pad_a, 64})), {a, b}, a};
      case 4:
        if (!distinct) break;
        return {descriptor_view(vector(f::to_bf16, 4, row_floats, {pad_a, 64}, {}, {pad_c, 32})), {a}, c};
      case 5:
        if (!distinct) break;
        return {descriptor_view(vector(f::transpose_to_bf16, 4, row_floats, {pad_a, 64}, {}, {pad_c, 8})), {a}, c};
      case 6:
        if (!distinct) break;
        return {descriptor_view(gemm(gen::precision::bf16, {8, 8, 16, 16}, {pad_a, 32}, {pad_b, 32}, {}, {pad_c, 32})),
                {a, b},
                c};
      case 7:
        if (a == b) break;
        return {descriptor_view(stage(dram_cell(q_, a) + below(8), dram_cell(q_, b) + below(8), 1 + below(248))),
                {cells + b},
                cells + a};
      default:
        break;
    }
    return {descriptor_view(vector(f::add, 4, row_floats, {pad_a, 64}, {pad_b, 64}, {pad_a, 64})), {a, b}, a};
  }

  // The last conflicting descriptor of every engine is enough: an engine completes its own in order.
  std::set<std::size_t> conflicts(const step& next) const {
    std::set<std::size_t> found;
    std::set<gen::opcode> engines;
    for (std::size_t i = steps_.size(); i-- > 0 && engines.size() < 6;) {
      if (!steps_[i]) continue;
      const step& earlier = *steps_[i];
      const auto touches = [](const step& s, std::uint32_t cell) {
        return s.writes == cell || std::ranges::count(s.reads, cell) != 0;
      };
      bool conflict = touches(earlier, next.writes);
      for (const std::uint32_t cell : next.reads) conflict = conflict || earlier.writes == cell;
      if (conflict && engines.insert(earlier.descriptor.op()).second) found.insert(i);
    }
    return found;
  }

  void append(step next) {
    std::set<std::size_t> earlier = conflicts(next);
    if (!program_.empty() && below(4) == 0) earlier.insert(below(static_cast<std::uint32_t>(program_.size())));
    if (earlier.size() > 3) {
      program_.emplace_back(fence());
      steps_.emplace_back();
      earlier = {program_.size() - 1};
    }
    auto record = next.descriptor.as<gen::vector_descriptor>();
    std::size_t slot = below(static_cast<std::uint32_t>(4 - earlier.size()));
    for (const std::size_t i : earlier) record.header.wait[slot++] = static_cast<std::uint16_t>(program_.size() - i);
    if (below(6) == 0) record.header.flags |= flag::record;
    next.descriptor = descriptor_view(record);
    program_.push_back(next.descriptor);
    steps_.push_back(std::move(next));
  }

  std::uint32_t q_;
  std::mt19937 random_;
  std::vector<descriptor_view> program_;
  std::vector<std::optional<step>> steps_;  // none: a fence
};

// Moderate floats whose halves are moderate bf16 as well; each call other values.
void fill(npu_bench& b, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto next = [&] { return (random() & 0x80ff80ff) | 0x3f003f00; };
  for (std::uint64_t a = npu_bench::data_base; a < npu_bench::data_base + 0x10000; a += 4)
    b.set_dram(a, static_cast<std::uint32_t>(next()));
  for (std::uint32_t a = 0; a < 0x10000; a += 4) {
    const auto value = static_cast<std::uint32_t>(next());
    std::memcpy(b.pad().data() + a, &value, sizeof value);
  }
}

std::vector<std::byte> data_of(const std::vector<std::byte>& dram) {
  return {dram.begin() + npu_bench::data_base, dram.begin() + npu_bench::data_base + 0x10000};
}

void run_programs(const npu_config& config) {
  npu_bench b(config);
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::vector<descriptor_view> programs[] = {program_writer(0, 2 * seed).write(50),
                                                     program_writer(1, 2 * seed + 1).write(50)};
    std::vector<std::uint64_t> ends;
    for (const std::uint32_t data_seed : {seed, seed + 1000}) {
      b.soft_reset();
      b.run();
      // From an edge of the clock on, so that both runs meet the memory alike.
      b.run_ns(1000 - npu_bench::now_ns() % 1000);
      b.enable();
      fill(b, data_seed);
      images expected{{b.dram(), b.dram() + npu_bench::memory_bytes}, {b.pad().begin(), b.pad().end()}};
      for (std::uint32_t q = 0; q < 2; ++q) {
        ASSERT_LE(programs[q].size(), npu_bench::ring_entries);
        for (const descriptor_view& d : programs[q]) {
          interpret(expected, d);
          b.put(q, d.as<gen::vector_descriptor>());
        }
      }
      b.ring_doorbell(0);
      b.ring_doorbell(1);
      b.run();
      for (std::uint32_t q = 0; q < 2; ++q) {
        const auto length = static_cast<std::uint32_t>(programs[q].size());
        ASSERT_EQ(b.error(q), gen::npu::error_code::none);
        ASSERT_EQ(b.head(q), length);
        ends.push_back(b.record(q, length - 1).end_cycle);
      }
      ASSERT_TRUE(data_of({b.dram(), b.dram() + npu_bench::memory_bytes}) == data_of(expected.dram));
      ASSERT_TRUE(std::ranges::equal(b.pad(), expected.pad));
      const std::uint64_t array =
          b.counter(gen::npu::counter::array_busy) + b.counter(gen::npu::counter::stall_dependency) +
          b.counter(gen::npu::counter::stall_empty) + b.block.engine_cycles(engine_id::array, engine_state::blocked);
      EXPECT_EQ(array, b.counter(gen::npu::counter::cycles));
      EXPECT_EQ(b.counter(gen::npu::counter::descriptors), programs[0].size() + programs[1].size());
    }
    // The two runs meet refreshes and open rows of a DRAM differently.
    if (config.memory_non_blocking) continue;
    EXPECT_EQ(ends[0], ends[2]);
    EXPECT_EQ(ends[1], ends[3]);
  }
  EXPECT_EQ(b.block.memory_payloads_out(), 0U);
}

TEST(programs, overlapped_execution_ends_like_program_order_and_takes_the_same_time_for_other_data) {
  run_programs(small_npu());
}
TEST(programs, they_end_so_over_a_memory_that_pushes_back_and_answers_out_of_order) {
  run_programs(small_non_blocking_npu());
}
TEST(programs, they_end_so_in_blocks) {
  run_programs(small_block_npu());
}

}  // namespace
}  // namespace dvp::npu
